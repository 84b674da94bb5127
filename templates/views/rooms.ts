// Under which of the inspector's tabs a pane stands. A database has twenty tables and more; what belongs together is one
// tab, in which its panes are chosen.

export type Room = 'Why' | 'Loop' | 'Memory' | 'Threads' | 'Phases' | 'Callers' | 'More';

/** In the order of the tabs. */
export const ROOMS: readonly Room[] = ['Why', 'Loop', 'Memory', 'Threads', 'Phases', 'Callers', 'More'];

/** Tables by name; those nobody thought of stand under "More". */
const TABLE_ROOMS: { readonly [R in Room]?: readonly string[] } = {
  Why: ['findings', 'search'],
  Loop: ['loop_quality', 'loop_checks', 'trip_counts'],
  Memory: ['references', 'arrays', 'evictors', 'array_evictors', 'objects', 'levels'],
  Threads: ['thread_values', 'threads', 'thread_states'],
  Phases: [
    'barriers',
    'barriers_compared',
    'barrier_threads',
    'waits_for',
    'barrier_times',
    'phases',
    'phase_loops',
    'phase_samples',
    'episodes',
    'arrivals',
    'waits',
    'passages',
    'regions',
  ],
  Callers: ['call_edges'],
};

export const roomOfTable = (name: string): Room => ROOMS.find((room) => TABLE_ROOMS[room]?.includes(name)) ?? 'More';
