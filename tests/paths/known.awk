# Are the recorded paths those the program knows? Three files:
#   nm -n --defined-only MODULE, each line with the module's name in front
#   what the program printed: MS NAME...
#   the recorder's paths (dump): SAMPLES MODULE+ADDRESS...
# Only functions whose names the program knows are compared, in samples that fell into work() or what it calls. With shares=1 each path has
# the share of them that it had of the time, but for chance (timers come at the system's ticks, and meet what goes in circles of some ticks).
function hex(s,  i, v) {
    v = 0
    for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
    return v
}
function name_at(module, address,  low, high, mid) {
    if ((module, address) in known_name) return known_name[module, address]
    low = 0; high = count[module]
    while (low < high) {
        mid = int((low + high) / 2)
        if (begin[module, mid] <= hex(address)) low = mid + 1; else high = mid
    }
    return known_name[module, address] = low > 0 ? name[module, low - 1] : ""
}
FILENAME == ARGV[1] {
    if ($3 !~ /^[tTwWiI]$/) next
    n = count[$1]++
    begin[$1, n] = hex($2)
    sub(/\(.*/, "", $4)
    name[$1, n] = $4
    next
}
FILENAME == ARGV[2] {
    path = ""
    for (i = 2; i <= NF; i++) {
        path = path " " $i
        plain = $i
        sub(/\*[0-9]+$/, "", plain)
        is_known[plain] = 1
    }
    ms[path] = $1
    all_ms += $1
    next
}
{
    samples += $1
    path = ""; last = ""; same = 0; working = 0
    if ($2 ~ /^\[path/) cut += $1
    for (i = 2; i <= NF; i++) {
        if (!match($i, /\+[0-9a-f]+$/)) continue
        f = name_at(substr($i, 1, RSTART - 1), substr($i, RSTART + 1))
        if (f == "work") { working = 1; break }
        if (!(f in is_known)) continue
        if (f == last) { same++; continue }
        if (last != "") path = path " " last (same > 1 ? "*" same : "")
        last = f; same = 1
    }
    if (last != "") path = path " " last (same > 1 ? "*" same : "")
    if (!working) next
    compared += $1
    seen[path] += $1
    if (!(path in ms)) {
        wrong += $1
        if (++shown <= 5) print "# nobody went:" path " (" $1 " samples)"
    }
}
END {
    for (path in ms)
        if (ms[path] > all_ms / 20 && !(path in seen)) {
            missing++
            print "# not seen:" path " (" ms[path] " ms)"
        }
    for (path in ms) {
        p = ms[path] / all_ms
        d = compared ? seen[path] / compared - p : 0
        if (shares && d * d > (5 * sqrt((p * (1 - p) + 0.01) / (compared + 1)) + 0.04) ^ 2) {
            uneven++
            printf "# %.1f%% of the time, %.1f%% of the samples:%s\n", 100 * p, 100 * (p + d), path
        }
    }
    printf "# %d samples, %d compared, %d wrong, %d cut\n", samples, compared, wrong, cut
    exit !(compared >= samples * 0.6 && compared >= 50 && wrong == 0 && cut <= samples * 0.01 && missing == 0 && uneven == 0)
}
