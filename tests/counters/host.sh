# SPDX-License-Identifier: BSD-3-Clause
# The host's part of the counters' tests: runs lists of tests in guests, and compares their recordings with known facts about the
# programs. After tests/lib.sh and guest.sh.

# in_guest NAME "PROCESSOR OPTIONS" EXACT "SAMPLER..." TEST...: each TAP line of the tests becomes one of ours. $scratch/NAME/measured has what
# they kept. EXACT: cycles are instructions (icount).
in_guest() {
    guest_name=$1 guest_processor=$2 guest_exact=$3 guest_samplers=$4
    shift 4
    mkdir -p "$scratch/$guest_name"
    if ! guest_run "$scratch/$guest_name" "$guest_processor" "export top_srcdir='$top_srcdir' top_builddir='$arm64'
sh '$top_srcdir/tests/counters/inside/list.sh' '$guest_exact' '$guest_samplers' $*"; then
        not_ok "$guest_processor: runs $*" "$guest_lacks"
        return
    fi
    for guest_test; do
        for guest_sampler in $guest_samplers; do
            hand_out "$guest_processor, $guest_sampler, $guest_test" "$scratch/$guest_name/$guest_test.$guest_sampler.tap"
        done
    done
}

# hand_out NAME FILE: of TAP
hand_out() {
    while read -r guest_line; do
        case $guest_line in
        'ok '*'# SKIP '*) skip "$1: ${guest_line#*- }" "${guest_line#*# SKIP }" ;;
        'ok '*) ok "$1: ${guest_line#*- }" ;;
        'not ok '*) not_ok "$1: ${guest_line#*- }" ;;
        'status 0' | 1..*) ;;
        'status '* | 'Bail out!'*) [ "$guest_line" = 'status 1' ] || not_ok "$1: ends" "$guest_line" ;;
        *) comment "$guest_line" ;;
        esac
    done <"$2"
    grep -q '^1\.\.' "$2" || not_ok "$1: is complete" "$(tail -n 3 "$2")"
}

# count_executed PROGRAM ARGS: how often each of its instructions is executed, by QEMU's user mode, as $scratch/PROGRAM.callgrind
count_executed() {
    [ -f "$scratch/count.so" ] || ${CC:-cc} -shared -fPIC -O1 -I"$top_srcdir" -o "$scratch/count.so" "$top_srcdir/tests/counters/count.c" || return 1
    executed=$1
    shift
    qemu-aarch64 -cpu "${COUNTED_CPU:-neoverse-n1}" -L "$guest/system" -plugin "$scratch/count.so,out=$scratch/$executed.callgrind,program=$arm64/programs/$executed" \
        "$arm64/programs/$executed" "$@" >/dev/null 2>"$scratch/plugin.err"
}

# not_counted: why it failed. QEMU 9 has another interface for plugins.
not_counted() {
    if grep -q 'Could not load plugin\|TCG plugin required version' "$scratch/plugin.err"; then
        skip "$executed: executed instructions" "this QEMU does not take the plugin: $(tail -n 1 "$scratch/plugin.err")"
    else
        not_ok "$executed runs in qemu-aarch64" "$(cat "$scratch/plugin.err")"
    fi
}

# of_level LEVEL METRIC INPUT: "KEY<tab>VALUE" of the rows of the module $executed that print shows
of_level() {
    "$hpcview" print -f csv --by "$1" "$3" 2>"$scratch/err" | csv_rows | awk -F '\t' -v metric="$2" -v module="$executed" '
        NR == 1 { for (i = NF; i > 0; i--) { if ($i == metric) column = i; if ($i == "address") address = i } next }
        $2 == module && $column != "" { key = $1 " " $3 " " $4 " " $5 (address ? " " $address : ""); sum[key] += $column }
        END { for (key in sum) printf "%s\t%d\n", key, sum[key] }'
}

# compare_shares NAME MEASUREMENT PERIOD LEVEL...: at each level, shares of cycles against shares of executed instructions. What is allowed is four
# standard deviations of as many samples, and three samples: there are many rows, a fixed period beats with loops, and the emulator takes
# interrupts between blocks of instructions only.
compare_shares() {
    compared=$1 measurement=$2 period=$3
    shift 3
    cycles=$(of_level module PAPI_TOT_CYC "$measurement" | cut -f 2)
    instructions=$(of_level module Ir "$scratch/$executed.callgrind" | cut -f 2)
    for level; do
        of_level "$level" PAPI_TOT_CYC "$measurement" >"$scratch/measured.values"
        of_level "$level" Ir "$scratch/$executed.callgrind" >"$scratch/executed.values"
        if awk -F '\t' -v period="$period" -v cycles="$cycles" -v instructions="$instructions" '
            FNR == NR { executed[$1] = $2; next }
            { measured[$1] = $2; if (!($1 in executed)) executed[$1] = 0 }
            END {
                n = cycles / period
                for (key in executed) {
                    p = executed[key] / instructions
                    off = n * p - measured[key] / period
                    if (off < 0) off = -off
                    if (off > worst) worst = off
                    if (off > 4 * sqrt(n * p * (1 - p)) + 3) { wrong++; printf "# %s: %.1f samples expected, %d seen\n", key, n * p, measured[key] / period }
                    rows++
                }
                printf "# %d rows, %d samples, at most %.2f of them (%.2f%%) away\n", rows, n, worst, n ? 100 * worst / n : 0
                exit wrong > 0 || rows == 0 || n < 50
            }' "$scratch/executed.values" "$scratch/measured.values" >"$scratch/verdict"; then
            ok "$compared: shares by $level are those of executed instructions, $(tail -n 1 "$scratch/verdict" | sed 's/^# //')"
        else
            not_ok "$compared: shares by $level are those of executed instructions" "$(cat "$scratch/verdict" "$scratch/err")"
        fi
    done
}

# executed_in MODULE: instructions, of the program or "elsewhere", its libraries
executed_in() { awk -v module="$1" '/^ob=/ { here = ($0 ~ "/" module "$") || $0 == "ob=" module } here && /^0x/ { n += $3 } END { printf "%d", n }' "$scratch/$executed.callgrind"; }

# counted EVENT MEASUREMENT
counted() { "$hpcview" info "$2" | awk -v event="$1" '$1 == "event" { on = $2 == event } on && $1 == "counted" { print $2; exit }'; }

# near A B MOST
near() { awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= most && -d <= most) }'; }

# check_exact NAME FOLDER SAMPLER...: what inside/exact.sh recorded
check_exact() {
    exact_name=$1 exact_folder=$2
    shift 2
    while read -r program arguments; do
        # shellcheck disable=SC2086
        count_executed "$program" $arguments || { not_counted; continue; }
        for sampler; do
            measured=$exact_folder/$program.$sampler
            compare_shares "$exact_name, $sampler, $program" "$measured" 200003 procedure function loop line instruction
            instructions=$(counted PAPI_TOT_INS "$measured") cycles=$(counted PAPI_TOT_CYC "$measured")
            # Counted is what the program does, and the start's and the end's few thousand (PAPI's own, too); not the loading before.
            own=$(executed_in "$program")
            case $program in
            threads) own=24000000 most=24075000 ;; # (planned: in threads the plugin loses some; each begins and ends)
            strings | matrix | branches) most=$((own + $(executed_in elsewhere))) ;;
            *) most=$own ;;
            esac
            check "$exact_name, $sampler, $program: $instructions instructions counted, $own executed" test "$instructions" -ge "$own" -a "$instructions" -le $((most + 25000))
            check "$exact_name, $sampler, $program: $cycles cycles are twice as many" near "$cycles" $((2 * instructions)) 20000
        done
    done <"$top_srcdir/tests/counters/programs.list"
}

# check_heat FOLDER: one recorded there, one of this machine; the database of both, and what formulas make of them.
check_heat() {
    heat=$1/heat.ring
    executed=heat
    if ! "$hpcview" record -e CPUTIME@1000 -o "$scratch/heat.here" -- "$examples/heat/heat" 150 3 >/dev/null 2>"$scratch/err"; then
        skip "heat, recorded here" "nothing can be recorded: $(head -n 1 "$scratch/err")"
        return
    fi
    run "$hpcview" build -o "$scratch/heat.db" "$heat" "$scratch/heat.here"
    check "heat: a database of two machines" test "$status" = 0 -a -f "$scratch/heat.db/index.html"
    run "$hpcview" print --by procedure -f csv "$heat" "$scratch/heat.here"
    # the procedure with most cycles there is one row with its time here
    check "heat: its hottest procedure there has its time here in the same row" sh -c '
        awk -F, "NR == 1 { for (i = 1; i <= NF; i++) { if (\$i ~ /PAPI_TOT_CYC\$/) c = i; if (\$i ~ /CPUTIME\$/) t = i } next }
            \$c > most { most = \$c; time = \$t } END { exit !(c && t && time > 0) }" "$1"' sh "$scratch/out"
    # two events that are the same one: their ratio is 1 wherever there are samples enough
    run "$hpcview" print --by line -f csv -m 'R = PAPI_TOT_CYC / CPU_CYCLES' "$heat"
    check "heat: the ratio of two names for cycles is 1 in every line with 100 samples" sh -c '
        awk -F, "NR == 1 { for (i = 1; i <= NF; i++) { if (\$i == \"PAPI_TOT_CYC\") c = i; if (\$i == \"R\") r = i } next }
            \$c >= 100 * 400009 { n++; if (\$r < 0.75 || \$r > 1.25) bad++ } END { exit !(c && r && n > 0 && !bad) }" "$1"' sh "$scratch/out"
}

# check_stall FOLDER: STALL = CYCLES - ICYCLES, counted cycles and the bound of executed instructions of the same binary
check_stall() {
    count_executed vector 10000 || { not_counted; return; }
    run "$hpcview" print --by line -f csv -m 'STALL = run(vector.ring).PAPI_TOT_CYC - run(vector.callgrind).ICYCLES' "$1/vector.ring" "$scratch/vector.callgrind"
    check "STALL is the difference in every line that has both" sh -c '
        awk -F, "NR == 1 { for (i = 1; i <= NF; i++) { if (\$i ~ /PAPI_TOT_CYC\$/) c = i; if (\$i ~ /ICYCLES\$/) b = i; if (\$i == \"STALL\") s = i } next }
            \$c != \"\" && \$b != \"\" { n++; d = \$c - \$b - \$s; if (d < -1 || d > 1) bad++ }
            END { exit !(c && b && s && n >= 4 && !bad) }" "$1"' sh "$scratch/out"
}

# check_paths NAME FOLDER SAMPLER...: 30 procedures that call each other, with the cost of each and all that it calls; one procedure with its two callers
check_paths() {
    paths_name=$1 paths_folder=$2
    shift 2
    for sampler; do
        "$hpcview" print -f csv --by path "$paths_folder/path.$sampler" >"$scratch/csv" 2>"$scratch/err"
        if awk -F, -v period=200003 '
            NR == 1 { for (i = NF; i > 0; i--) if ($i ~ /PAPI_TOT_CYC$/) c = i; next }
            $1 == 0 { n = $c / period }
            $2 == "procedure" && $6 ~ /^level/ { k = substr($6, 6); samples[k] += $c / period; if ($1 <= depth) wrong++; depth = $1; levels++ }
            END {
                for (k in samples) { p = (40 - k) / 39; off = samples[k] - n * p; if (off < 0) off = -off; if (off > worst) worst = off; if (off > 3 * sqrt(n * p * (1 - p)) + 1) wrong++ }
                printf "%d levels, %d samples, at most %.2f of them away\n", levels, n, worst
                exit wrong > 0 || levels != 30 || n < 50
            }' "$scratch/csv" >"$scratch/verdict"; then
            ok "$paths_name, $sampler: a path of 30 calls, $(cat "$scratch/verdict")"
        else
            not_ok "$paths_name, $sampler: a path of 30 calls" "$(cat "$scratch/verdict" "$scratch/csv" "$scratch/err" | head -n 60)"
        fi
        "$hpcview" print -f csv --by caller --of work "$paths_folder/callers.$sampler" >"$scratch/csv" 2>"$scratch/err"
        if awk -F, '
            NR == 1 { for (i = NF; i > 0; i--) if ($i == "PAPI_TOT_CYC") c = i; next }
            $1 == 0 { all = $c }
            $1 == 1 { share[$6] = $c / all }
            END { exit !(all && share["often"] > 0.7 && share["often"] < 0.8 && share["seldom"] > 0.2 && share["seldom"] < 0.3) }' "$scratch/csv"; then
            ok "$paths_name, $sampler: one procedure by its two callers, 3 to 1"
        else
            not_ok "$paths_name, $sampler: one procedure by its two callers, 3 to 1" "$(cat "$scratch/csv" "$scratch/err")"
        fi
    done
}
