#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bash's completions, from the same tables as --help; zsh's and fish's if they are installed.
. "$top_srcdir/tests/lib.sh"
need bash
completions=$top_srcdir/share/completions
PATH=$top_builddir/driver:$PATH
export PATH

# completed WORDS... : bash's completions of the last word
completed() {
    bash --norc --noprofile -c '. "$1"; shift; COMP_WORDS=(hpcview "$@"); COMP_CWORD=$#; _hpcview
        ((${#COMPREPLY[@]} == 0)) || printf "%s\n" "${COMPREPLY[@]}"' - "$completions/hpcview" "$@"
}

"$hpcview" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >"$scratch/commands"
completed '' >"$scratch/first"
check_same "every command" "$scratch/first" "$scratch/commands"
check_equal "the beginning of a command" "$(completed dia)" diagnose
check_equal "after help" "$(completed help re)" record
while read -r command; do
    "$hpcview" "$command" --help | sed -n 's/^  ..[, ]*\(--[a-z-]*\).*/\1/p' >"$scratch/help"
    completed "$command" -- >"$scratch/options"
    check_same "$command: its options" "$scratch/options" "$scratch/help"
done <"$scratch/commands"
check_equal "the beginning of an option" "$(completed record --no-ca)" "--no-call-paths"
check_equal "no option of other tools" "$(completed record --pid)" ""
check_equal "operands are files" "$(completed print x)" ""
check_equal "a command that does not exist" "$(completed nothing --)" ""

if command -v zsh >/dev/null 2>&1; then
    check "zsh reads it" zsh -n "$completions/_hpcview"
else
    skip "zsh reads it" "no zsh here"
fi
if command -v fish >/dev/null 2>&1; then
    check_match "fish completes" "$(HOME=$scratch fish -c "source $completions/hpcview.fish; complete -C 'hpcview dia'")" "diagnose"
else
    skip "fish completes" "no fish here"
fi
done_testing
