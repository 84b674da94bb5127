// planted: Strings; at: find; set: b; before: -O2; after: -O2 -DAFTER. A name is looked for among all names by comparing text; the number of each is known.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
static __attribute__((noinline)) int find(const std::vector<std::string> &names, const char *name, int known)
{
#ifdef AFTER
    (void)name;
    return names[known].empty() ? -1 : known;
#else
    (void)known;
    for (unsigned i = 0; i < names.size(); i++)
        if (std::strcmp(names[i].c_str(), name) == 0)
            return i;
    return -1;
#endif
}
int main()
{
    std::vector<std::string> names;
    for (int i = 0; i < 600; i++)
        names.push_back("a_rather_long_common_prefix_of_names_" + std::to_string(i));
    long total = 0;
    for (int r = 0; r < 150000; r++)
        total += find(names, names[r % 600].c_str(), r % 600);
    std::printf("%ld\n", total);
}
// SPDX-License-Identifier: BSD-3-Clause
