#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Numbers and lists in documents agree with the code; links have targets; and each document is in the tarball.
. "$top_srcdir/tests/lib.sh"
cd "$scratch" || exit 99

# words: one a line, sorted, each once
words() { tr -s ' ,\t' '\n' | sed '/^$/d' | LC_ALL=C sort -u; }
# source NAME: the file of this name outside of tests, wherever it is
source_of() { (cd "$top_srcdir" && find "$PWD"/[a-z]*/ -name "$1" -not -path "$PWD/tests/*" -not -path "$PWD/build*") | head -n 1; }
# claim DOCUMENT PATTERN NUMBER: the text that matches \(...\) of PATTERN in the document is the number
claim() {
    stated=$(sed -n "s/.*$2.*/\\1/p" "$top_srcdir/$1" | sort -u)
    check_equal "$1: $(printf '%s' "$2" | sed 's/\\([^)]*)/N/')" "$stated" "$3"
}
# entries PAGE SECTION: the words in the .TP heads of a section of a manual page
entries() {
    awk -v section="$2" '/^\.SH/ { on = ($0 == ".SH " section) } on && /^\.TP/ { getline; print }' "$top_srcdir/doc/man/$1" |
        sed -e 's/^\.[A-Z]* //' -e 's/[",]/ /g' -e 's/\\//g' | words
}

# ---- checks of loops ------------------------------------------------------------------
sed -n '/define QUALITY_CHECK_LIST/,/^enum/s/.*X([A-Z0-9_]*, "\([^"]*\)".*/\1/p' "$(source_of quality.h)" | words >checks
entries hpcview-quality.1 CHECKS >checks.manual
check_same "hpcview-quality.1 names every check" checks.manual checks
claim NEWS ' \([0-9]*\) checks with remedies' "$(wc -l <checks)"

# ---- machines --------------------------------------------------------------------------
grep -l '<core ' "$top_srcdir"/share/machines/*.xml | sed 's|.*/||; s/\.xml$//' | words >cores
grep -l '<memory' "$top_srcdir"/share/machines/*.xml | sed 's|.*/||; s/\.xml$//' | words >memories
claim NEWS 'one of \([0-9]*\) cores' "$(wc -l <cores)"
named_in() { # PAGE: the machines that the page names
    for machine in $(words <"$2"); do sed 's/\\//g' "$top_srcdir/doc/man/$1" | grep -qw -- "$machine" && echo "$machine"; done | words
}
named_in hpcview-quality.1 cores >cores.manual
check_same "hpcview-quality.1 names every core" cores.manual cores
named_in hpcview-simulate.1 memories >memories.manual
check_same "hpcview-simulate.1 names every memory hierarchy" memories.manual memories

# ---- properties -----------------------------------------------------------------------
count=$(cat "$top_srcdir"/share/properties/*.asl | grep -cE '^(PROPERTY|HYPOTHESIS|METAPROPERTY) [A-Z][A-Za-z0-9]*')
templates=$(cat "$top_srcdir"/share/properties/*.asl | grep -c '^PROPERTY TEMPLATE')
claim doc/formats/properties.md 'hpcview comes with \([0-9]*\) properties' $((count - templates))

# ---- formats ------------------------------------------------------------------------------
sed -n '/filter_table\[\]/,/^};/s/^    {"\([a-z-]*\)", .*/\1/p' "$(source_of filters.c)" | words >imports
entries hpcview-import.1 FORMATS >imports.manual
check_same "hpcview-import.1 names every format" imports.manual imports
sed -n 's/^    {"\([a-z0-9-]*\)", .*/\1/p' "$(source_of export.c)" | { cat && echo hpcstruct; } | words >exports # hpcstruct is of a binary: bloop writes it
entries hpcview-export.1 FORMATS >exports.manual
check_same "hpcview-export.1 names every format" exports.manual exports
grep '^## ' "$top_srcdir/doc/formats/exports.md" | sed 's/^## //' | words >exports.doc
check_same "exports.md has a section for every format" exports.doc exports

# ---- metric blocks ---------------------------------------------------------------------
sed -n 's/.*<block name="\([^"]*\)".*/\1/p' "$top_srcdir"/share/metrics/*.xml | words >blocks
sed -n 's/^| \(`[^|]*`\) | [^|]* |$/\1/p' "$top_srcdir/doc/formats/metrics.md" | tr -d '`' | words >named
LC_ALL=C comm -12 named blocks >blocks.doc
check_same "metrics.md has every metric block" blocks.doc blocks

# ---- commands --------------------------------------------------------------------------
"$hpcview" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | words >commands
sed -n 's/.*/&/; s/hpcview-\([a-z]*\)(1)/\n\1\n/gp' "$top_srcdir/doc/README.md" | grep -x '[a-z]*' | grep -vx cc | words >commands.doc
check_same "doc/README.md names every command" commands.doc commands

# ---- versions and limits ----------------------------------------------------------------
version=$(grep -rh --include='*.h' 'define HTMLGEN_VERSION' "$top_srcdir/htmlgen" | sed 's/[^0-9]*//')
claim doc/formats/database.md '# The database, version \([0-9]*\)' "$version"
check_equal "templates/README.md: the size that tests/page/open.sh allows" \
    "$(grep -o '[0-9,]* bytes (`tests/page/open.sh`)' "$top_srcdir/templates/README.md" | sed 's/ .*//')" \
    "$(sed -n 's/.*code is below \([0-9,]*\) bytes.*/\1/p' "$top_srcdir/tests/page/open.sh" | head -n 1)"
claim doc/design/robustness.md '| fuzz | \([0-9]*\) targets' "$(grep -h '^FUZZERS +=' "$top_srcdir"/*/local.mk "$top_srcdir"/*/*/local.mk | tr ' ' '\n' | grep -c _fuzz)"
number() { # a number as documents write it
    case $1 in 2) echo two ;; 3) echo three ;; 4) echo four ;; 5) echo five ;; 6) echo six ;; 7) echo seven ;; *) echo "$1" ;; esac
}
claim doc/README.md '(\.\.\/share\/examples\/README\.md): \([a-z]*\) small programs' \
    "$(number "$(find "$top_srcdir/share/examples" -mindepth 1 -maxdepth 1 -type d | wc -l | tr -d ' ')")"

# ---- links, and the tarball -----------------------------------------------------------------
# anchor: a heading as GitHub forms its anchor
anchors() { sed -n 's/^##* *//p' "$1" | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }
for document in README.md CONTRIBUTING.md SECURITY.md doc/*.md doc/*/*.md; do
    for file in "$top_srcdir"/$document; do
        folder=${file%/*}
        grep -o ']([^)]*)' "$file" | sed 's/^](//; s/)$//' | grep -v '^https*:' | while read -r link; do
            target=${link%%#*}
            if [ -n "$target" ]; then target=$folder/$target; else target=$file; fi
            if [ ! -e "$target" ]; then
                echo "${file#"$top_srcdir"/}: $link"
            elif [ "${link#*#}" != "$link" ] && ! anchors "$target" | grep -qx -- "${link#*#}"; then
                echo "${file#"$top_srcdir"/}: $link (no such heading)"
            fi
        done
    done
done >broken
check_equal "every link leads to a file and a heading" "$(cat broken)" ""
for file in "$top_srcdir"/doc/*.md "$top_srcdir"/doc/*/*.md; do
    name=${file#"$top_srcdir"/doc/}
    grep -q "%D%/$name" "$top_srcdir/doc/local.mk" || echo "$name"
done >missing
check_equal "doc/local.mk has every document" "$(cat missing)" ""
done_testing
