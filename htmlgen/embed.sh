#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# embed.sh NAME FILE [NAME FILE]... - C source with each file's bytes as `const unsigned char NAME[]`, `NAME_len`, and their SHA-256 in base64
# as `NAME_hash`.
set -e
hash_of() {
    # shellcheck disable=SC2059
    printf "$(sha256sum <"$1" | awk '{
        for (i = 1; i <= 64; i += 2)
            printf "\\%03o", 16 * (index("0123456789abcdef", substr($1, i, 1)) - 1) + index("0123456789abcdef", substr($1, i + 1, 1)) - 1
    }')" | base64
}
echo '#include "htmlgen/write/write.h"'
while [ $# -gt 1 ]; do
    echo "const unsigned char $1[] = {"
    od -An -v -tx1 "$2" | sed 's/  */,0x/g; s/^,//; s/$/,/'
    echo "0};"
    echo "const size_t $1_len = sizeof $1 - 1;"
    echo "const char $1_hash[] = \"$(hash_of "$2")\";"
    shift 2
done
