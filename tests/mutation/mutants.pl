#!/usr/bin/perl
# SPDX-License-Identifier: BSD-3-Clause
# Small bugs to plant, one a line: FILE TAB OFFSET TAB LENGTH TAB NEW TAB RULE TAB LINE TAB the line's text.
#
#     mutants.pl ROOM_FILE... | head                  every one
#
# A bug is a rule applied at a place: an operator, a bound, a constant, a condition or a statement changed. Places in
# comments, texts, preprocessor lines, declarations of data and tests are passed over. Which are planted is chosen by
# run.sh, by seed, not by hand.
use strict;
use warnings;

# rule, what it matches (the part in \K..(?=) form stands for itself), what it becomes
my @c_rules = (
    ['less becomes not above',      qr/(?<= )<(?= )/,            '<='],
    ['not above becomes less',      qr/(?<= )<=(?= )/,           '<'],
    ['above becomes not below',     qr/(?<= )>(?= )/,            '>='],
    ['not below becomes above',     qr/(?<= )>=(?= )/,           '>'],
    ['equal becomes unequal',       qr/(?<= )==(?= )/,           '!='],
    ['unequal becomes equal',       qr/(?<= )!=(?= )/,           '=='],
    ['and becomes or',              qr/(?<= )&&(?= )/,           '||'],
    ['or becomes and',              qr/(?<= )\|\|(?= )/,         '&&'],
    ['plus becomes minus',          qr/(?<=\w )\+(?= \w)/,       '-'],
    ['minus becomes plus',          qr/(?<=[\w)] )-(?= \w)/,     '+'],
    ['plus one is lost',            qr/ \+ 1(?=[;,)\]])/,        ''],
    ['minus one is lost',           qr/ - 1(?=[;,)\]])/,         ''],
    ['adding becomes setting',      qr/(?<= )\+=(?= )/,          '='],
    ['a negation is lost',          qr/(?<=[( ])!(?=[\w(])/,     ''],
    ['true becomes false',          qr/\btrue\b/,                'false'],
    ['false becomes true',          qr/\bfalse\b/,               'true'],
    ['0 becomes 1',                 qr/(?<== )0(?=[;,])/,        '1'],
    ['1 becomes 2',                 qr/(?<= )1(?=[;,)])/,        '2'],
    ['an answer of 0 becomes 1',    qr/return \K0(?=;)/,         '1'],
    ['an answer of 1 becomes 0',    qr/return \K1(?=;)/,         '0'],
    ['an error becomes none',       qr/return \K-1(?=;)/,        '0'],
    ['continue becomes break',      qr/\bcontinue(?=;)/,         'break'],
    ['shifted the other way',       qr/(?<= )<<(?= )/,           '>>'],
    ['shifted the other way round', qr/(?<= )>>(?= )/,           '<<'],
    ['bits of both become of one',  qr/(?<=\w )&(?= \w)/,        '|'],
    ['an index is one on',          qr/\w\[\K\w+(?=\])/,         undef],       # [i] becomes [i + 1]
    ['a call is left out',          qr/^ +\K[a-z]\w*\([^;{}]*\)(?=;$)/m, '(void)0'],
    ['a step is left out',          qr/^ +\K[\w.>\[\]-]+ (?:\+=|\|=) [^;]+(?=;$)/m, '(void)0'],
);
my @ts_rules = (
    (grep { $_->[0] !~ /equal becomes|an index|left out|bits|error|answer/ } @c_rules),
    ['equal becomes unequal',       qr/(?<= )===(?= )/,          '!=='],
    ['unequal becomes equal',       qr/(?<= )!==(?= )/,          '==='],
    ['a call is left out',          qr/^ +\Kthis\.[a-z]\w*\([^;{}]*\)(?=;$)/m, 'void 0'],
);

# What nobody could see whatever the place: memory that is not given back (the leak check of the sanitizers' build sees
# that) or of which more is taken, an array that is one longer, a buffer for text that is a byte shorter, which of two comes first whose order does not matter, being equal ("a < b ? -1 : a > b"),
# what is only fetched ahead of time, which of two equals is the smaller ("a < b ? a : b", "if (a > b) a = b"), and a limit on input that is one more or less (but where it
# is the size of an array).
sub unseen {
    my ($rule, $old, $line, $next, $before, $after) = @_;
    my $bound = $rule =~ /^(?:less|not above|above|not below) becomes /;
    return 1 if $rule eq 'a call is left out' && $old =~ /^(?:\w*(?:[fF]ree|release|close|dealloc|walk_end)\w*|va_end|inflateEnd|deflateEnd|elf_end|pages_put|pthread_\w+_destroy)\(/;
    return 1 if $line =~ /^__builtin_prefetch\(/;
    return 1 if $rule eq 'an index is one on' && $line =~ /^(?!return |else |case )(?:static |const )*(?:struct |union |unsigned )?[a-z]\w* \*?\w+\[/;
    return 1 if $rule eq '1 becomes 2' && $line =~ /(?:mem_(?:c|re)?alloc|realloc|_area_room|vec_grow_|vec_reserve)\(/;
    return 1 if $rule eq 'plus one is lost' && $line =~ /= mem_(?:c|re)?alloc\([^;]*\+ 1[,)]/; # so that none is no row of 0 bytes
    return 1 if $rule eq '1 becomes 2' && $before =~ /sizeof [\w.>-]+ - $/;
    return 1 if $bound && $after =~ /^ LIMIT_(?!TABLE_COLUMNS|DWARF_DEPTH)/;
    return 1 if $bound && $line =~ /([\w.>\[\]-]+) [<>]=? ([\w.>\[\]-]+) \? (?:\(\w+\))?(?:\1 : \2|\2 : \1)(?![\w.>\[(-])/;
    return 1 if $bound && "$line $next" =~ /^(?:else )?if \(([^()&|]+) [<>]=? ([^()&|]+)\) (?:\1 = \2|\2 = \1);$/;
    return 1 if $rule eq '1 becomes 2' && $line =~ /\? -1 : 1;/;
    return 1 if $rule =~ /^(?:less|above) becomes not / && $line =~ /\? -1 : |- \(\w+(?:->\w+)? < /;
    return 0;
}

# A loop that goes one further over a typed array of TypeScript, of which the file says that it is as long as the loop: behind it
# nothing is written, and what would be read is for that alone.
sub behind_typed {
    my ($code, $line) = @_;
    my ($i, $bound, $array, $more, $value) =
        $line =~ /^(?:else )?for \(let (\w+) = \w+; \w+ < ([\w.]+); \w+\+\+\) (\w+)\[\w+( \+ 1)?\] (?:[-+*\/&|]|>>>?|<<)?= (.*);$/ or return 0;
    my $length = $bound . ($more // '');
    return $line =~ /\(let $i = \w+; $i < \Q$bound\E; $i\+\+\) $array\[$i/ && $value !~ /\w\(|\+\+|--/ &&
        $code =~ /\b$array = new \w+Array\(\Q$length\E\)/;
}

# Where a function of the file alone answers 0 or -1, and all that is asked of it is whether the answer is below 0, 1 says what 0 does.
sub answer_unread {
    my ($code, $from) = @_;
    my ($name) = substr($code, 0, $from) =~ /.*^static int (\w+)\([^;{}]*\)\n\{/ms or return 0;
    my $arguments = qr/(\((?:[^()]++|(?-1))*+\))/;
    my $asked = 0;
    return 0 if $code =~ /\b\Q$name\E\b(?!\()/; # handed to somebody else
    while ($code =~ /\b\Q$name\E$arguments(.{0,5})/gs) {
        next if $2 =~ /^\n\{/;
        return 0 if $2 !~ /^ < 0/;
        $asked++;
    }
    return $asked > 0;
}

# The same length with blanks where nothing may be planted.
sub without_texts {
    my ($text, $is_c) = @_;
    my $blank = sub { my $t = shift; $t =~ s/[^\n]/ /g; $t };
    $text =~ s{(//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)}{$blank->($1)}gse;
    $text =~ s{^(#(?:[^\n]*\\\n)*[^\n]*)}{$blank->($1)}gme if $is_c;
    $text =~ s{^(static const struct .*?^\} ?\w*\[\] = \{.*?^\};)}{$blank->($1)}gmse if $is_c;
    $text =~ s{(\bassert\([^;]*\);)}{$blank->($1)}gse;
    return $text;
}

for my $file (@ARGV) {
    open my $in, '<', $file or die "$file: $!\n";
    local $/;
    my $text = <$in>;
    my $is_c = $file =~ /\.[ch]$/;
    my $code = without_texts($text, $is_c);
    my @lines = ((split /\n/, $text, -1), '');
    for my $rule ($is_c ? @c_rules : @ts_rules) {
        my ($name, $pattern, $new) = @$rule;
        while ($code =~ /$pattern/g) {
            my ($from, $to) = ($-[0], $+[0]);
            # \K moves where the match is said to begin
            my $old = substr $text, $from, $to - $from;
            my $put = defined $new ? $new : "$old + 1";
            my $line = (substr($text, 0, $from) =~ tr/\n//) + 1;
            my ($shown, $next) = map { /^\s*(.*?)\s*$/ } @lines[$line - 1, $line];
            $shown =~ tr/\t/ /;
            next if !$is_c && $name eq 'less becomes not above' && behind_typed($code, $shown);
            next if $name eq 'an answer of 0 becomes 1' && answer_unread($code, $from);
            next if unseen($name, $old, $shown, $next, substr($text, $from > 30 ? $from - 30 : 0, $from > 30 ? 30 : $from), substr $text, $to, 30);
            $put = 'NOTHING' if $put eq ''; # the shell takes tabs side by side for one
            print join("\t", $file, $from, $to - $from, $put, $name, $line, $shown), "\n";
        }
    }
}
