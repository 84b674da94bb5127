// A computed metric over several places at once (the instances of one source line, say) is its formula over the sums, not the sum of its values:
// so the page has to know the formulas. NaN is missing, stays missing, and is what a division by zero gives.

export type Formula = (valueOf: (name: string) => number) => number;

const FUNCTIONS: { readonly [name: string]: (...args: number[]) => number } = {
  min: Math.min,
  max: Math.max,
  abs: Math.abs,
  sqrt: Math.sqrt,
  log: Math.log,
  exp: Math.exp,
  pow: Math.pow,
};

const finite = (x: number): number => (Number.isFinite(x) ? x : NaN);

/** null where the text is beyond us; then a fused value is blank. */
export function parseFormula(text: string): Formula | null {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[\p{L}_][\p{L}\p{N}_:.]*|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\S/gu) ?? [];
  let at = 0;
  let depth = 0;
  const next = (): string | undefined => tokens[at];
  const accept = (token: string): boolean => (tokens[at] === token ? (at++, true) : false);

  function sum(): Formula {
    let left = product();
    for (;;) {
      const a = left;
      if (accept('+')) { const b = product(); left = (v) => a(v) + b(v); }
      else if (accept('-')) { const b = product(); left = (v) => a(v) - b(v); }
      else return left;
    }
  }
  function product(): Formula {
    let left = factor();
    for (;;) {
      const a = left;
      if (accept('*')) { const b = factor(); left = (v) => a(v) * b(v); }
      else if (accept('/')) { const b = factor(); left = (v) => finite(a(v) / b(v)); }
      else return left;
    }
  }
  function factor(): Formula {
    if (++depth > 200) throw new SyntaxError('too deep');
    const f = unsigned();
    depth--;
    return f;
  }
  function unsigned(): Formula {
    const token = next();
    if (token === undefined) throw new SyntaxError('ends too early');
    at++;
    if (token === '-') { const a = factor(); return (v) => -a(v); }
    if (token === '+') return factor();
    if (token === '(') {
      const inside = sum();
      if (!accept(')')) throw new SyntaxError('no )');
      return inside;
    }
    if (/^[\d.]/.test(token)) { const value = Number(token); return () => value; }
    if (token.startsWith('"')) { const name = token.slice(1, -1).replace(/\\(.)/g, '$1'); return (v) => v(name); }
    if (!/^[\p{L}_]/u.test(token)) throw new SyntaxError(token);
    return accept('(') ? call(token) : (v) => v(token);
  }
  function call(name: string): Formula {
    if (!Object.hasOwn(FUNCTIONS, name)) throw new SyntaxError(name);
    const apply = FUNCTIONS[name];
    const args = [sum()];
    while (accept(',')) args.push(sum());
    if (!accept(')')) throw new SyntaxError('no )');
    return (v) => finite(apply(...args.map((a) => a(v))));
  }

  try {
    const whole = sum();
    return next() === undefined ? whole : null;
  } catch {
    return null;
  }
}
