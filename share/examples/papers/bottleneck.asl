// Paradyn's hypothesis: a place is a bottleneck that takes more than so much of the time.
HYPOTHESIS Bottleneck {
    FOR PROGRAM, PROCEDURE, LOOP;
    CONDITION: share(time) > 0.03;
    SEVERITY: 100 * share(time);
}
