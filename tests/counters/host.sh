# The host's part of the counters' tests: runs lists of tests in guests, and holds what the guests recorded against what is known of the
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
        "$arm64/programs/$executed" "$@" >/dev/null
}

# of_level LEVEL METRIC INPUT: "KEY<tab>VALUE" of the rows of the module $executed that print shows
of_level() {
    "$hpcview" print -f csv --by "$1" "$3" 2>"$scratch/err" | csv_rows | awk -F '\t' -v metric="$2" -v module="$executed" '
        NR == 1 { for (i = NF; i > 0; i--) { if ($i == metric) column = i; if ($i == "address") address = i } next }
        $2 == module && $column != "" { key = $1 " " $3 " " $4 " " $5 (address ? " " $address : ""); sum[key] += $column }
        END { for (key in sum) printf "%s\t%d\n", key, sum[key] }'
}

# compare_shares NAME MEASUREMENT PERIOD LEVEL...: at each level, shares of cycles against shares of executed instructions. What is allowed is three
# standard deviations of as many samples, and one sample.
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
                    if (off > 3 * sqrt(n * p * (1 - p)) + 1) { wrong++; printf "# %s: %.1f samples expected, %d seen\n", key, n * p, measured[key] / period }
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
        count_executed "$program" $arguments || { not_ok "$program runs in qemu-aarch64" && continue; }
        for sampler; do
            measured=$exact_folder/$program.$sampler
            compare_shares "$exact_name, $sampler, $program" "$measured" 200003 procedure function loop line instruction
            instructions=$(counted PAPI_TOT_INS "$measured") cycles=$(counted PAPI_TOT_CYC "$measured")
            # Counted is what the program does, and the start's and the end's few thousand (PAPI's own, too); not the loading before.
            own=$(executed_in "$program")
            case $program in
            threads) own=24000000 most=24000000 ;; # (planned: in threads the plugin loses some)
            strings | matrix | branches) most=$((own + $(executed_in elsewhere))) ;;
            *) most=$own ;;
            esac
            check "$exact_name, $sampler, $program: $instructions instructions counted, $own executed" test "$instructions" -ge "$own" -a "$instructions" -le $((most + 25000))
            check "$exact_name, $sampler, $program: $cycles cycles are twice as many" near "$cycles" $((2 * instructions)) 20000
        done
    done <"$top_srcdir/tests/counters/programs.list"
}
