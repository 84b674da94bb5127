/* The paths of a loop without a condition that come back are loops within it; they begin with its first statement, an
   `if`, which is behind the keyword's line. */
struct item {
    int value;
    struct item *next;
};
struct item *merge(struct item *a, struct item *b)
{
    struct item head, *tail = &head;
    for (;;) {                      /* LOOP depth=1 near=1 */
        if (a->value < b->value) {
            tail->next = a;
            tail = a;
            a = a->next;
            if (a == 0) {
                tail->next = b;
                break;
            }
        } else {
            tail->next = b;
            tail = b;
            b = b->next;
            if (b == 0) {
                tail->next = a;
                break;
            }
        }
    }
    return head.next;
}
/* SPDX-License-Identifier: BSD-3-Clause */
