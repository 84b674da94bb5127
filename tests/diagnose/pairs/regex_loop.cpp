// planted: RegexInLoop|Allocation; at: match; set: a; before: -O2; after: -O2 -DAFTER. A regular expression is compiled for each line.
#include <cstdio>
#include <regex>
#include <string>
static __attribute__((noinline)) bool match(const std::string &line)
{
#ifdef AFTER
    static const std::regex form("[a-z]+=[0-9]+");
#else
    const std::regex form("[a-z]+=[0-9]+");
#endif
    return std::regex_match(line, form);
}
int main()
{
    long n = 0;
    for (int i = 0; i < 14000; i++)
        n += match("value=" + std::to_string(i));
    std::printf("%ld\n", n);
}
// SPDX-License-Identifier: BSD-3-Clause
