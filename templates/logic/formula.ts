// A computed metric over several places at once (the instances of one source line, say) is its formula over their sums,
// not the sum of its values: so the page has to know the formulas, in the grammar of metrics/expr.c:
//
//     sum     = product { ("+" | "-") product }
//     product = signed { ("*" | "/") signed }
//     signed  = { "-" | "+" } power
//     power   = atom [ "^" signed ]                   right to left; -a^2 is -(a^2)
//     atom    = number | name | "quoted name" | function "(" sum { "," sum } ")" | "(" sum ")"
//
// NaN is missing, stays missing, and is what a division by zero gives.

export type Formula = (valueOf: (name: string) => number) => number;

const FUNCTIONS: { readonly [name: string]: (args: readonly number[]) => number } = {
  min: (args) => Math.min(...args),
  max: (args) => Math.max(...args),
  sum: (args) => args.reduce((a, b) => a + b),
};

const DEEPEST = 200;
const TOKEN =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[\p{L}_][\p{L}\p{N}_:.]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[\p{L}_]?|\S/gu;

const finite = (x: number): number => (Number.isFinite(x) ? x : NaN);
const either = (a: number, b: number, value: number): number =>
  Number.isNaN(a) || Number.isNaN(b) ? NaN : finite(value);

class Parser {
  private readonly tokens: readonly string[];
  private at = 0;
  private depth = 0;

  constructor(text: string) {
    this.tokens = text.match(TOKEN) ?? [];
  }

  whole(): Formula {
    const formula = this.sum();
    if (this.at < this.tokens.length) throw new SyntaxError(this.tokens[this.at]);
    return formula;
  }

  private accept(token: string): boolean {
    if (this.tokens[this.at] !== token) return false;
    this.at++;
    return true;
  }

  private sum(): Formula {
    let left = this.product();
    for (;;) {
      const a = left;
      const sign = this.accept('+') ? 1 : this.accept('-') ? -1 : 0;
      if (sign === 0) return left;
      const b = this.product();
      left = (v) => finite(a(v) + sign * b(v));
    }
  }

  private product(): Formula {
    let left = this.signed();
    for (;;) {
      const a = left;
      const isTimes = this.accept('*');
      if (!isTimes && !this.accept('/')) return left;
      const b = this.signed();
      left = isTimes ? (v) => finite(a(v) * b(v)) : (v) => finite(a(v) / b(v));
    }
  }

  private signed(): Formula {
    if (++this.depth > DEEPEST) throw new SyntaxError('nested too deep');
    let result: Formula;
    if (this.accept('-')) {
      const a = this.signed();
      result = (v) => -a(v);
    } else if (this.accept('+')) result = this.signed();
    else result = this.power();
    this.depth--;
    return result;
  }

  private power(): Formula {
    const base = this.atom();
    if (!this.accept('^')) return base;
    const exponent = this.signed();
    return (v) => {
      const a = base(v);
      const b = exponent(v);
      return either(a, b, a ** b); // NaN ** 0 would be 1
    };
  }

  private atom(): Formula {
    const token = this.tokens[this.at++];
    if (token === undefined) throw new SyntaxError('ends too early');
    if (token === '(') {
      const inside = this.sum();
      if (!this.accept(')')) throw new SyntaxError('no )');
      return inside;
    }
    if (/^["'].+["']$/su.test(token)) {
      const name = token.slice(1, -1).replace(/\\(.)/gs, '$1');
      return (v) => v(name);
    }
    if (/^(\d|\.\d)/.test(token)) {
      const value = Number(token);
      if (!Number.isFinite(value)) throw new SyntaxError(token);
      return () => value;
    }
    if (!/^[\p{L}_]/u.test(token)) throw new SyntaxError(token);
    return this.accept('(') ? this.call(token) : (v) => v(token);
  }

  private call(name: string): Formula {
    if (!Object.hasOwn(FUNCTIONS, name)) throw new SyntaxError(name);
    const apply = FUNCTIONS[name];
    const args = [this.sum()];
    while (this.accept(',')) args.push(this.sum());
    if (!this.accept(')')) throw new SyntaxError('no )');
    return (v) => finite(apply(args.map((a) => a(v))));
  }
}

/** null where the text is beyond us; then a fused value is blank. */
export function parseFormula(text: string): Formula | null {
  try {
    return new Parser(text).whole();
  } catch {
    return null;
  }
}
