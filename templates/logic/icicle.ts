// SPDX-License-Identifier: BSD-3-Clause
// Boxes of an icicle: every scope as wide as its cost, its parts below it. What is narrower than a pixel is left out, so a
// million scopes cost no more than what one sees.

import { NONE } from '../model/data';
import type { SortedChildren } from './tree';

export interface Boxes {
  readonly count: number;
  readonly node: Uint32Array; // a place, or a node of another tree
  readonly depth: Uint16Array;
  readonly x: Float32Array;
  readonly width: Float32Array;
  readonly depths: number; // rows
}

const NARROWEST = 0.6; // pixels

/** From `root` down, in `width` pixels; the scopes above it stand over it, as wide as everything. */
export function icicle(
  parent: Int32Array,
  sorted: SortedChildren,
  values: Float64Array,
  root: number,
  width: number,
): Boxes {
  const node: number[] = [];
  const depth: number[] = [];
  const x: number[] = [];
  const wide: number[] = [];
  const add = (p: number, d: number, at: number, w: number): void => {
    node.push(p);
    depth.push(d);
    x.push(at);
    wide.push(w);
  };
  const above: number[] = [];
  for (let up = parent[root] ?? NONE; up !== NONE; up = parent[up]) above.unshift(up);
  above.forEach((p, d) => add(p, d, 0, width));
  const scale = values[root] > 0 ? width / values[root] : 0;
  let depths = above.length;
  if (scale > 0) {
    add(root, above.length, 0, width);
    for (let i = above.length; i < node.length; i++) {
      depths = Math.max(depths, depth[i] + 1);
      let at = x[i];
      for (const child of sorted.of(node[i])) {
        const w = values[child] * scale;
        if (!(w >= NARROWEST)) continue;
        add(child, depth[i] + 1, at, w);
        at += w;
      }
    }
  }
  return {
    count: node.length,
    node: Uint32Array.from(node),
    depth: Uint16Array.from(depth),
    x: Float32Array.from(x),
    width: Float32Array.from(wide),
    depths,
  };
}

/** The box at a point; NONE. */
export function boxAt(boxes: Boxes, x: number, depth: number): number {
  for (let i = 0; i < boxes.count; i++)
    if (boxes.depth[i] === depth && boxes.x[i] <= x && x < boxes.x[i] + boxes.width[i]) return i;
  return NONE;
}
