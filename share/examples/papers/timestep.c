/* A time step of ninety loops of which eight matter, as in the ocean model OM3 that Paradyn's loop-aware search was tried on. */
#include <stdio.h>
static double a[64];
int steps = 6000;

__attribute__((noinline)) static void time_step(void)
{
    for (int i = 0; i < 100; i++) /* LOOP 1 */
        a[1] = a[1] * 0.999 + 1;
    for (int i = 0; i < 100; i++) /* LOOP 2 */
        a[2] = a[2] * 0.999 + 2;
    for (int i = 0; i < 100; i++) /* LOOP 3 */
        a[3] = a[3] * 0.999 + 3;
    for (int i = 0; i < 9000; i++) /* LOOP 4 */
        a[4] = a[4] * 0.999 + 4;
    for (int i = 0; i < 100; i++) /* LOOP 5 */
        a[5] = a[5] * 0.999 + 5;
    for (int i = 0; i < 100; i++) /* LOOP 6 */
        a[6] = a[6] * 0.999 + 6;
    for (int i = 0; i < 100; i++) /* LOOP 7 */
        a[7] = a[7] * 0.999 + 7;
    for (int i = 0; i < 100; i++) /* LOOP 8 */
        a[8] = a[8] * 0.999 + 8;
    for (int i = 0; i < 100; i++) /* LOOP 9 */
        a[9] = a[9] * 0.999 + 9;
    for (int i = 0; i < 100; i++) /* LOOP 10 */
        a[10] = a[10] * 0.999 + 10;
    for (int i = 0; i < 100; i++) /* LOOP 11 */
        a[11] = a[11] * 0.999 + 11;
    for (int i = 0; i < 33000; i++) /* LOOP 12 */
        a[12] = a[12] * 0.999 + 12;
    for (int i = 0; i < 100; i++) /* LOOP 13 */
        a[13] = a[13] * 0.999 + 13;
    for (int i = 0; i < 100; i++) /* LOOP 14 */
        a[14] = a[14] * 0.999 + 14;
    for (int i = 0; i < 9000; i++) /* LOOP 15 */
        a[15] = a[15] * 0.999 + 15;
    for (int i = 0; i < 100; i++) /* LOOP 16 */
        a[16] = a[16] * 0.999 + 16;
    for (int i = 0; i < 100; i++) /* LOOP 17 */
        a[17] = a[17] * 0.999 + 17;
    for (int i = 0; i < 100; i++) /* LOOP 18 */
        a[18] = a[18] * 0.999 + 18;
    for (int i = 0; i < 100; i++) /* LOOP 19 */
        a[19] = a[19] * 0.999 + 19;
    for (int i = 0; i < 100; i++) /* LOOP 20 */
        a[20] = a[20] * 0.999 + 20;
    for (int i = 0; i < 100; i++) /* LOOP 21 */
        a[21] = a[21] * 0.999 + 21;
    for (int i = 0; i < 100; i++) /* LOOP 22 */
        a[22] = a[22] * 0.999 + 22;
    for (int i = 0; i < 100; i++) /* LOOP 23 */
        a[23] = a[23] * 0.999 + 23;
    for (int i = 0; i < 100; i++) /* LOOP 24 */
        a[24] = a[24] * 0.999 + 24;
    for (int i = 0; i < 100; i++) /* LOOP 25 */
        a[25] = a[25] * 0.999 + 25;
    for (int i = 0; i < 9000; i++) /* LOOP 26 */
        a[26] = a[26] * 0.999 + 26;
    for (int i = 0; i < 100; i++) /* LOOP 27 */
        a[27] = a[27] * 0.999 + 27;
    for (int i = 0; i < 100; i++) /* LOOP 28 */
        a[28] = a[28] * 0.999 + 28;
    for (int i = 0; i < 100; i++) /* LOOP 29 */
        a[29] = a[29] * 0.999 + 29;
    for (int i = 0; i < 100; i++) /* LOOP 30 */
        a[30] = a[30] * 0.999 + 30;
    for (int i = 0; i < 100; i++) /* LOOP 31 */
        a[31] = a[31] * 0.999 + 31;
    for (int i = 0; i < 100; i++) /* LOOP 32 */
        a[32] = a[32] * 0.999 + 32;
    for (int i = 0; i < 100; i++) /* LOOP 33 */
        a[33] = a[33] * 0.999 + 33;
    for (int i = 0; i < 100; i++) /* LOOP 34 */
        a[34] = a[34] * 0.999 + 34;
    for (int i = 0; i < 100; i++) /* LOOP 35 */
        a[35] = a[35] * 0.999 + 35;
    for (int i = 0; i < 100; i++) /* LOOP 36 */
        a[36] = a[36] * 0.999 + 36;
    for (int i = 0; i < 9000; i++) /* LOOP 37 */
        a[37] = a[37] * 0.999 + 37;
    for (int i = 0; i < 100; i++) /* LOOP 38 */
        a[38] = a[38] * 0.999 + 38;
    for (int i = 0; i < 100; i++) /* LOOP 39 */
        a[39] = a[39] * 0.999 + 39;
    for (int i = 0; i < 100; i++) /* LOOP 40 */
        a[40] = a[40] * 0.999 + 40;
    for (int i = 0; i < 100; i++) /* LOOP 41 */
        a[41] = a[41] * 0.999 + 41;
    for (int i = 0; i < 100; i++) /* LOOP 42 */
        a[42] = a[42] * 0.999 + 42;
    for (int i = 0; i < 100; i++) /* LOOP 43 */
        a[43] = a[43] * 0.999 + 43;
    for (int i = 0; i < 100; i++) /* LOOP 44 */
        a[44] = a[44] * 0.999 + 44;
    for (int i = 0; i < 100; i++) /* LOOP 45 */
        a[45] = a[45] * 0.999 + 45;
    for (int i = 0; i < 100; i++) /* LOOP 46 */
        a[46] = a[46] * 0.999 + 46;
    for (int i = 0; i < 100; i++) /* LOOP 47 */
        a[47] = a[47] * 0.999 + 47;
    for (int i = 0; i < 9000; i++) /* LOOP 48 */
        a[48] = a[48] * 0.999 + 48;
    for (int i = 0; i < 100; i++) /* LOOP 49 */
        a[49] = a[49] * 0.999 + 49;
    for (int i = 0; i < 100; i++) /* LOOP 50 */
        a[50] = a[50] * 0.999 + 50;
    for (int i = 0; i < 100; i++) /* LOOP 51 */
        a[51] = a[51] * 0.999 + 51;
    for (int i = 0; i < 100; i++) /* LOOP 52 */
        a[52] = a[52] * 0.999 + 52;
    for (int i = 0; i < 100; i++) /* LOOP 53 */
        a[53] = a[53] * 0.999 + 53;
    for (int i = 0; i < 100; i++) /* LOOP 54 */
        a[54] = a[54] * 0.999 + 54;
    for (int i = 0; i < 100; i++) /* LOOP 55 */
        a[55] = a[55] * 0.999 + 55;
    for (int i = 0; i < 100; i++) /* LOOP 56 */
        a[56] = a[56] * 0.999 + 56;
    for (int i = 0; i < 100; i++) /* LOOP 57 */
        a[57] = a[57] * 0.999 + 57;
    for (int i = 0; i < 100; i++) /* LOOP 58 */
        a[58] = a[58] * 0.999 + 58;
    for (int i = 0; i < 9000; i++) /* LOOP 59 */
        a[59] = a[59] * 0.999 + 59;
    for (int i = 0; i < 100; i++) /* LOOP 60 */
        a[60] = a[60] * 0.999 + 60;
    for (int i = 0; i < 100; i++) /* LOOP 61 */
        a[61] = a[61] * 0.999 + 61;
    for (int i = 0; i < 100; i++) /* LOOP 62 */
        a[62] = a[62] * 0.999 + 62;
    for (int i = 0; i < 100; i++) /* LOOP 63 */
        a[63] = a[63] * 0.999 + 63;
    for (int i = 0; i < 100; i++) /* LOOP 64 */
        a[0] = a[0] * 0.999 + 64;
    for (int i = 0; i < 100; i++) /* LOOP 65 */
        a[1] = a[1] * 0.999 + 65;
    for (int i = 0; i < 100; i++) /* LOOP 66 */
        a[2] = a[2] * 0.999 + 66;
    for (int i = 0; i < 100; i++) /* LOOP 67 */
        a[3] = a[3] * 0.999 + 67;
    for (int i = 0; i < 100; i++) /* LOOP 68 */
        a[4] = a[4] * 0.999 + 68;
    for (int i = 0; i < 100; i++) /* LOOP 69 */
        a[5] = a[5] * 0.999 + 69;
    for (int i = 0; i < 9000; i++) /* LOOP 70 */
        a[6] = a[6] * 0.999 + 70;
    for (int i = 0; i < 100; i++) /* LOOP 71 */
        a[7] = a[7] * 0.999 + 71;
    for (int i = 0; i < 100; i++) /* LOOP 72 */
        a[8] = a[8] * 0.999 + 72;
    for (int i = 0; i < 100; i++) /* LOOP 73 */
        a[9] = a[9] * 0.999 + 73;
    for (int i = 0; i < 100; i++) /* LOOP 74 */
        a[10] = a[10] * 0.999 + 74;
    for (int i = 0; i < 100; i++) /* LOOP 75 */
        a[11] = a[11] * 0.999 + 75;
    for (int i = 0; i < 100; i++) /* LOOP 76 */
        a[12] = a[12] * 0.999 + 76;
    for (int i = 0; i < 100; i++) /* LOOP 77 */
        a[13] = a[13] * 0.999 + 77;
    for (int i = 0; i < 100; i++) /* LOOP 78 */
        a[14] = a[14] * 0.999 + 78;
    for (int i = 0; i < 100; i++) /* LOOP 79 */
        a[15] = a[15] * 0.999 + 79;
    for (int i = 0; i < 100; i++) /* LOOP 80 */
        a[16] = a[16] * 0.999 + 80;
    for (int i = 0; i < 100; i++) /* LOOP 81 */
        a[17] = a[17] * 0.999 + 81;
    for (int i = 0; i < 100; i++) /* LOOP 82 */
        a[18] = a[18] * 0.999 + 82;
    for (int i = 0; i < 100; i++) /* LOOP 83 */
        a[19] = a[19] * 0.999 + 83;
    for (int i = 0; i < 100; i++) /* LOOP 84 */
        a[20] = a[20] * 0.999 + 84;
    for (int i = 0; i < 100; i++) /* LOOP 85 */
        a[21] = a[21] * 0.999 + 85;
    for (int i = 0; i < 100; i++) /* LOOP 86 */
        a[22] = a[22] * 0.999 + 86;
    for (int i = 0; i < 100; i++) /* LOOP 87 */
        a[23] = a[23] * 0.999 + 87;
    for (int i = 0; i < 100; i++) /* LOOP 88 */
        a[24] = a[24] * 0.999 + 88;
    for (int i = 0; i < 100; i++) /* LOOP 89 */
        a[25] = a[25] * 0.999 + 89;
    for (int i = 0; i < 100; i++) /* LOOP 90 */
        a[26] = a[26] * 0.999 + 90;
}

__attribute__((noinline)) static void output(void)
{
    for (int i = 0; i < 12000; i++)
        a[0] = a[0] * 0.5 + 1;
}

int main(void)
{
    for (int s = 0; s < steps; s++) {
        time_step();
        output();
    }
    printf("%g\n", a[12]);
    return 0;
}
/* SPDX-License-Identifier: BSD-3-Clause */
