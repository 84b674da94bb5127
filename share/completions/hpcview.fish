# SPDX-License-Identifier: BSD-3-Clause
# Completion of hpcview in fish. The words come from the command itself, so that they are those of its options table.
function __hpcview_words
    set -l words (commandline -opc)
    if test (count $words) -eq 1; or test "$words[2]" = help
        $words[1] help --words 2>/dev/null
    else if string match -q -- '-*' (commandline -ct)
        $words[1] help --words $words[2] 2>/dev/null
    end
end
complete -c hpcview -n 'test (count (commandline -opc)) -eq 1' -f
complete -c hpcview -a '(__hpcview_words)'
