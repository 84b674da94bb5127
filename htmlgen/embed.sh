#!/bin/sh
# embed.sh NAME FILE [NAME FILE]... - C source with each file's bytes as `const unsigned char NAME[]` and `NAME_len`.
set -e
echo '#include "htmlgen/write/write.h"'
while [ $# -gt 1 ]; do
    echo "const unsigned char $1[] = {"
    od -An -v -tx1 "$2" | sed 's/  */,0x/g; s/^,//; s/$/,/'
    echo "0};"
    echo "const size_t $1_len = sizeof $1 - 1;"
    shift 2
done
