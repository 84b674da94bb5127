/* planted: Allocation; also: Strings; by: record; flags: -O2. A string is made for each look into a map. */
#include <cstdio>
#include <map>
#include <string>
int main()
{
    std::map<std::string, int> counts;
    const char *names[] = {"a name that is too long to stand inside of its string", "another name, as long as the first one",
                           "a third name for the map to hold, of the same kind"};
    for (int k = 0; k < 4000000; k++)
        counts[names[k % 3]]++; /* HERE */
    std::printf("%d\n", counts[names[1]]);
}
// SPDX-License-Identifier: BSD-3-Clause
