// SPDX-License-Identifier: BSD-3-Clause
// What the words of the page mean, at hover. doc/glossary.md has them with the rest of the program's.

/** How a word begins, as a regular expression, and its definition. */
const DEFINITIONS: readonly (readonly [string, string])[] = [
  ['loop-carried', 'Loop-carried dependency: an iteration needs a result of the one before, so that iterations cannot overlap.'],
  ['reduction', 'Reduction: many values are combined into one, by adding for instance.'],
  ['indirect', 'Indirect reference: the address comes from an array, as in x[index[i]].'],
  ['stride', 'Stride: the distance between the elements that successive iterations access.'],
  ['trip count', 'Trip count: iterations for each entry of a loop.'],
  ['bound(?!ar)', 'Bound: the fewest cycles that an iteration can take on this processor, from its code alone.'],
  ['chain', 'Chain: instructions of which each waits for the one before.'],
  ['ports', 'Ports: the units of a core that execute instructions.'],
  ['front end', 'Front end: the part of a core that fetches and decodes instructions.'],
  ['uops', 'Uops: the operations into which a core splits instructions.'],
  ['spill', 'Spill: a value is stored to memory because registers are short.'],
  ['intensity', 'Arithmetic intensity: operations for each byte loaded or stored.'],
  ['vectoriz', 'Vectorized: one instruction works on several elements at once.'],
  ['unrolled', 'Unrolled: one pass of the machine code does several iterations of the source.'],
  ['imbalance', 'Imbalance: how much more the busiest thread or rank has than the mean.'],
  ['barrier', 'Barrier time: from the arrival of the first thread to that of the last one.'],
  ['phase', 'Phase: what runs between two barriers.'],
  ['episode', 'Episode: one passage of all threads through a barrier.'],
  ['exclusive', 'Exclusive: without inner loops and inlined calls; of a procedure, without its callees.'],
  ['evict', 'Eviction: a cache line is replaced by another one.'],
  ['temporal', 'Temporal use: the part of the hits that is on bytes touched before.'],
  ['spatial', 'Spatial use: the part of a cache line that is touched before it is evicted.'],
  ['cold', 'Cold miss: the first access to a cache line.'],
  ['conflict', 'Conflict miss: a cache of the same size without sets would have had the line.'],
  ['tlb', 'TLB: the cache of translated addresses.'],
];

/** The definitions of the words in a text, as a tooltip; undefined: it has none of them. */
export function explained(text: string): string | undefined {
  const found = DEFINITIONS.filter(([word]) => new RegExp(`\\b${word}`, 'i').test(text)).map(([, definition]) => definition);
  return found.join('\n') || undefined;
}
