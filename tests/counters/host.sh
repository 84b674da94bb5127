# SPDX-License-Identifier: BSD-3-Clause
# The host's part of the counters' tests: runs lists of tests in guests, and compares their recordings with known facts about the
# programs. After tests/lib.sh and guest.sh.

# in_guests TABLE: runs tests in guests, one for each test and sampler, as many at once as there are processors here. A line of it is
#     NAME EXACT SAMPLER,... TEST,... PROCESSOR QEMU-OPTIONS...
# EXACT: "exact" where cycles are instructions (icount), else "-". Each TAP line of the tests becomes one of ours, "NAME, SAMPLER, TEST: ...", and
# $scratch/NAME/measured has what they kept.
in_guests() {
    printf '%s\n' "$1" | awk '{
        samplers = split($3, sampler, ","); tests = split($4, test, ",")
        for (t = 1; t <= tests; t++) for (s = 1; s <= samplers; s++) { $3 = sampler[s]; $4 = test[t]; print }
    }' >"$scratch/guests"
    # shellcheck disable=SC2016
    xargs -P "$(nproc)" -L 1 sh -c '
        . "$top_srcdir/tests/counters/guest.sh"
        name=$1/$2 exact=${3#-} sampler=$4 test=$5
        folder=$name/$test.$sampler
        shift 5
        mkdir -p "$folder" "$name/measured"
        [ ! -d "$name/stage" ] || mv "$name/stage" "$folder/"
        guest_run "$folder" "$*" "export top_srcdir=$top_srcdir top_builddir=$arm64 SAMPLER=$sampler EXACT=$exact
            sh $top_srcdir/tests/counters/inside/$test.sh" || printf "%s\n" "$guest_lacks" >"$folder/lacks"
        [ ! -d "$folder/measured" ] || cp -R "$folder/measured/." "$name/measured/"' sh "$scratch" <"$scratch/guests"
    while read -r guest_name _ guest_sampler guest_test guest_processor; do
        guest_folder=$scratch/$guest_name/$guest_test.$guest_sampler guest_name="$guest_name, $guest_sampler, $guest_test"
        if [ -f "$guest_folder/lacks" ]; then
            not_ok "$guest_name: $guest_processor runs" "$(cat "$guest_folder/lacks")"
        else
            hand_out "$guest_name" "$guest_folder"
        fi
    done <"$scratch/guests"
}

# Each check, for the table at the end, too.
ok() { tap_count=$((tap_count + 1)) && printf 'ok %d - %s\n' "$tap_count" "$1" && echo "passed $1" >>"$scratch/results"; }
not_ok() {
    tap_count=$((tap_count + 1)) tap_failures=$((tap_failures + 1))
    printf 'not ok %d - %s\n' "$tap_count" "$1"
    [ $# -lt 2 ] || comment "$2"
    echo "failed $1" >>"$scratch/results"
}

# print_table TABLE: of in_guests; for each guest and sampler how many checks of each test passed, and of how many if not of all
print_table() {
    {
        printf '%s\n' "$1"
        echo
        cat "$scratch/results"
    } | awk '
        NF == 0 && !results { results = 1; next }
        !results { guest[++guests] = $1; name[$1] = $5; for (i = 6; i <= NF; i++) name[$1] = name[$1] " " $i; next }
        match($0, /^[a-z]+ [^,]*, [a-z]+, [a-z]+: /) {
            split(substr($0, 8, RLENGTH - 9), part, ", ")
            if (!(part[3] in column)) { column[part[3]] = ++columns; heading[columns] = part[3] }
            n[part[1], part[2], part[3]]++
            passed[part[1], part[2], part[3]] += $1 == "passed"
        }
        END {
            line = "| processor | sampler |"; rule = "|---|---|"
            for (c = 1; c <= columns; c++) { line = line " " heading[c] " |"; rule = rule "---|" }
            print line; print rule
            for (g = 1; g <= guests; g++) for (s = 1; s <= 2; s++) {
                sampler = s == 1 ? "ring" : "papi"; line = ""; any = 0
                for (c = 1; c <= columns; c++) {
                    all = n[guest[g], sampler, heading[c]] + 0; any += all
                    good = passed[guest[g], sampler, heading[c]] + 0
                    line = line " " (all == 0 ? "" : good == all ? all : good " of " all) " |"
                }
                if (any) print "| " name[guest[g]] " | " sampler " |" line
            }
        }' | sed 's/^/# /'
}

# hand_out NAME FOLDER: the TAP of a test that ran in a guest
hand_out() {
    while read -r guest_line; do
        case $guest_line in
        'ok '*'# SKIP '*) skip "$1: ${guest_line#*- }" "${guest_line#*# SKIP }" ;;
        'ok '*) ok "$1: ${guest_line#*- }" ;;
        'not ok '*) not_ok "$1: ${guest_line#*- }" ;;
        1..*) ;;
        'Bail out!'*) not_ok "$1: ends" "$guest_line" ;;
        *) comment "$guest_line" ;;
        esac
    done <"$2/out"
    grep -q '^1\.\.' "$2/out" || not_ok "$1: is complete" "$(tail -n 3 "$2/out" "$2/err")"
}

# count_executed PROGRAM ARGS: how often each of its instructions is executed, by QEMU's user mode, as $scratch/PROGRAM.callgrind
count_executed() {
    [ -f "$scratch/count.so" ] || ${CC:-cc} -shared -fPIC -O1 -I"$top_srcdir" -o "$scratch/count.so" "$top_srcdir/tests/counters/count.c" || return 1
    executed=$1
    shift
    qemu-aarch64 -cpu "${COUNTED_CPU:-neoverse-n1}" -L "$guest/system" -plugin "$scratch/count.so,out=$scratch/$executed.callgrind,program=$arm64/programs/$executed" \
        "$arm64/programs/$executed" "$@" >/dev/null 2>"$scratch/plugin.err"
}

# not_counted: the reason of the failure. QEMU 9 has another interface for plugins.
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

# compare_shares NAME MEASUREMENT PERIOD LEVEL...: at each level, compares shares of cycles with shares of executed
# instructions. The tolerance is four standard deviations of the samples plus three samples: there are many rows, a
# fixed period resonates with loops, and the emulator takes interrupts only between blocks of instructions.
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

# check_exact NAME FOLDER SAMPLER...: checks the recordings of inside/exact.sh
check_exact() {
    exact_name=$1 exact_folder=$2
    shift 2
    while read -r program arguments; do
        # shellcheck disable=SC2086
        count_executed "$program" $arguments || { not_counted; continue; }
        for sampler; do
            measured=$exact_folder/$program.$sampler
            compare_shares "$exact_name, $sampler, exact: $program" "$measured" 200003 procedure function loop line instruction
            # (PAPI reads a counter in its own thread alone, and OpenMP's do not end)
            [ "$sampler $program" != "papi openmp" ] || continue
            instructions=$(counted PAPI_TOT_INS "$measured") cycles=$(counted PAPI_TOT_CYC "$measured")
            # The counts cover the program and a few thousand instructions at start and end (including PAPI's), but not
            # the loading before.
            own=$(executed_in "$program")
            case $program in
            threads) own=24000000 most=24075000 ;; # (planned: in threads the plugin loses some; each begins and ends)
            openmp) own=28000000 most=28300000 ;;  # (and its threads spin a little before they wait)
            strings | matrix | branches) most=$((own + $(executed_in elsewhere))) ;;
            *) most=$own ;;
            esac
            check "$exact_name, $sampler, exact: $program: $instructions instructions counted, $own executed" test "$instructions" -ge "$own" -a "$instructions" -le $((most + 25000))
            check "$exact_name, $sampler, exact: $program: $cycles cycles are twice as many" near "$cycles" $((2 * instructions)) 1000
        done
    done <"$top_srcdir/tests/counters/programs.list"
}

# column CSV NAME: its number
column() { head -n 1 "$1" | tr , '\n' | awk -v name="$2" '$0 == name { print NR; exit }'; }

# check_heat NAME FOLDER: heat recorded there and on this machine: a database of both, and cycles per instruction, two
# in every procedure
check_heat() {
    heat_name="$1, ring, heat" heat=$2/heat.ring
    if ! "$hpcview" record -e CPUTIME@1000 -o "$scratch/heat.here" -- "$examples/heat/heat" 150 3 >/dev/null 2>"$scratch/err"; then
        skip "$heat_name: recorded here" "nothing can be recorded: $(head -n 1 "$scratch/err")"
        return
    fi
    run "$hpcview" build -o "$scratch/heat.db" "$heat" "$scratch/heat.here"
    check "$heat_name: a database of two machines" test "$status" = 0 -a -f "$scratch/heat.db/index.html"
    "$hpcview" print --by procedure -f csv -m 'CPI = run(heat.ring).PAPI_TOT_CYC / run(heat.ring).PAPI_TOT_INS' "$heat" "$scratch/heat.here" >"$scratch/csv" 2>"$scratch/err"
    if awk -F, -v c="$(column "$scratch/csv" heat.ring.PAPI_TOT_CYC)" -v t="$(column "$scratch/csv" heat.here.CPUTIME)" -v r="$(column "$scratch/csv" CPI)" '
        NR > 1 && $c > most { most = $c; time = $t }
        NR > 1 && $c >= 1000 * 400009 { n++; if ($r < 1.6 || $r > 2.5) bad++ }
        END { exit !(c && t && r && time > 0 && n > 0 && !bad) }' "$scratch/csv"; then
        ok "$heat_name: the hottest procedure has its time here in the same row, and its cycles an instruction"
    else
        not_ok "$heat_name: the hottest procedure has its time here in the same row, and its cycles an instruction" "$(cat "$scratch/err" "$scratch/csv")"
    fi
}

# check_metrics NAME FOLDER SAMPLER...: formulas of cycles sampled there and instructions counted here (count_executed),
# for the program vector: two cycles per instruction on every line; and metric blocks, whose events count 0 or are
# identical
check_metrics() {
    metrics_name=$1 metrics_folder=$2
    shift 2
    count_executed vector 10000 || { not_counted; return; }
    for sampler; do
        "$hpcview" print --by line -f csv -m "CPI = run(vector.$sampler).PAPI_TOT_CYC / run(vector.callgrind).Ir" -m "IPC = run(vector.callgrind).Ir / run(vector.$sampler).PAPI_TOT_CYC" \
            -m "STALL = run(vector.$sampler).PAPI_TOT_CYC - run(vector.callgrind).ICYCLES" "$metrics_folder/vector.$sampler" "$scratch/vector.callgrind" >"$scratch/csv" 2>"$scratch/err"
        if awk -F, -v c="$(column "$scratch/csv" vector.$sampler.PAPI_TOT_CYC)" -v b="$(column "$scratch/csv" vector.callgrind.ICYCLES)" -v ir="$(column "$scratch/csv" vector.callgrind.Ir)" \
            -v cpi="$(column "$scratch/csv" CPI)" -v ipc="$(column "$scratch/csv" IPC)" -v s="$(column "$scratch/csv" STALL)" '
            NR > 1 && $c != "" && $b != "" {
                n++
                d = $c - $b - $s
                if (d < -1 || d > 1) bad = bad " stall of line " $4
                most = 2 * sqrt(200003 / $c) * 2 + 0.02 # two errors of the samples
                if ($ir > 0 && $c >= 20 * 200003 && ++compared && ($cpi < 2 - 2 * most || $cpi > 2 + 2 * most || $ipc * $cpi < 0.999 || $ipc * $cpi > 1.001)) bad = bad " " $cpi " cycles an instruction in line " $4
            }
            END { print n " lines" bad; exit !(c && b && s && ir && cpi && ipc && n >= 4 && compared >= 2 && bad == "") }' "$scratch/csv" >"$scratch/verdict"; then
            ok "$metrics_name, $sampler, metrics: CPI, IPC and STALL of $(cat "$scratch/verdict")"
        else
            not_ok "$metrics_name, $sampler, metrics: CPI, IPC and STALL" "$(cat "$scratch/verdict" "$scratch/err" "$scratch/csv")"
        fi
        "$hpcview" print --by module -f csv --metrics cpi "$metrics_folder/cpi.$sampler" 2>"$scratch/err" >"$scratch/csv"
        check "$metrics_name, $sampler, metrics: the block cpi: about 2 cycles an instruction" awk -F, -v c="$(column "$scratch/csv" CPI)" 'NR == 2 { exit !($c > 1.2 && $c < 3.4) }' "$scratch/csv"
        "$hpcview" print --by module -f csv "$metrics_folder/zero.$sampler" >"$scratch/csv" 2>"$scratch/err"
        check "$metrics_name, $sampler, metrics: an event that counts 0 has a column, of blanks" awk -F, -v c="$(column "$scratch/csv" L1D_CACHE_REFILL)" '
            NR > 1 { rows++; if ($c != "") bad++ }
            END { exit !(c && rows && !bad) }' "$scratch/csv"
        for block in branch cache topdown-arm; do
            [ -d "$metrics_folder/$block.$sampler" ] || continue
            "$hpcview" print --by module -f csv --metrics $block "$metrics_folder/$block.$sampler" >"$scratch/csv" 2>"$scratch/err"
            check "$metrics_name, $sampler, metrics: the block $block: what counts 0 makes blanks" awk -F, '
                NR == 1 { for (i = 6; i <= NF; i++) if ($i ~ /RATE$|MPKI$|^TD_/) ratio[i] = 1 }
                NR > 1 { for (i in ratio) { n++; if ($i != "") bad++ } }
                END { exit !(n > 0 && !bad) }' "$scratch/csv"
        done
    done
}

# check_errors NAME FOLDER: of 50 runs, how far the shares of lines are from the truth, compared with the error that is shown of a number, two standard
# deviations: 2 sqrt(value x period). (templates/logic/columns.ts)
check_errors() {
    errors_name="$1, ring, errors" errors_folder=$2
    count_executed branches 3000 || { not_counted; return; }
    of_level line Ir "$scratch/branches.callgrind" >"$scratch/executed.values"
    total=$(executed_in branches) run=0
    while [ $run -lt 50 ]; do
        period=$((100003 + 734 * run))
        of_level line PAPI_TOT_CYC "$errors_folder/runs/$run" | sed "s/^/$period	/"
        run=$((run + 1))
    done >"$scratch/measured.values"
    if awk -F '\t' -v total="$total" '
        NR == FNR { executed[$1] = $2; next }
        { sum[$1] += $3; value[$1, $2] = $3; run[$1] = 1 }
        END {
            for (p in run) for (key in executed) {
                v = value[p, key] + 0; truth = executed[key] / total * sum[p]
                if (truth < 5 * p) continue
                error = 2 * sqrt(v * p); off = v - truth; n++
                inside += off <= error && -off <= error
                squares += off * off / (truth * p)
            }
            printf "%d numbers of 50 runs, %.1f%% within the error; their standard deviation is %.2f of that of counting\n", n, 100 * inside / n, sqrt(squares / n)
            exit !(n >= 200 && inside >= 0.95 * n)
        }' "$scratch/executed.values" "$scratch/measured.values" >"$scratch/verdict"; then
        ok "$errors_name: $(cat "$scratch/verdict")"
    else
        not_ok "$errors_name: numbers are within the error shown" "$(cat "$scratch/verdict")"
    fi
}

# installed_in FOLDER: the files of `make install`, with the binaries of the guest, as FOLDER/stage
installed_in() {
    mkdir -p "$1"
    make -s -C "$top_builddir" install DESTDIR="$1/stage" >"$scratch/install.log" 2>&1
    for installed in driver/hpcview libhpcview-record.so; do
        find "$1/stage" -name "${installed##*/}" -type f -exec cp "$arm64/$installed" {} \;
    done
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
            ok "$paths_name, $sampler, paths: a path of 30 calls, $(cat "$scratch/verdict")"
        else
            not_ok "$paths_name, $sampler, paths: a path of 30 calls" "$(cat "$scratch/verdict" "$scratch/csv" "$scratch/err" | head -n 60)"
        fi
        "$hpcview" print -f csv --by caller --of work "$paths_folder/callers.$sampler" >"$scratch/csv" 2>"$scratch/err"
        if awk -F, '
            NR == 1 { for (i = NF; i > 0; i--) if ($i == "PAPI_TOT_CYC") c = i; next }
            $1 == 0 { all = $c }
            $1 == 1 { share[$6] = $c / all }
            END { exit !(all && share["often"] > 0.7 && share["often"] < 0.8 && share["seldom"] > 0.2 && share["seldom"] < 0.3) }' "$scratch/csv"; then
            ok "$paths_name, $sampler, paths: one procedure by its two callers, 3 to 1"
        else
            not_ok "$paths_name, $sampler, paths: one procedure by its two callers, 3 to 1" "$(cat "$scratch/csv" "$scratch/err")"
        fi
    done
}
