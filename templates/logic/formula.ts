// Formulas, in the grammar of metrics/expr.c, computed column by column:
//
//     sum     = product { ("+" | "-") product }
//     product = signed { ("*" | "/") signed }
//     signed  = { "-" | "+" } power
//     power   = atom [ "^" signed ]                   right to left; -a^2 is -(a^2)
//     atom    = number | name | "quoted name" | function "(" sum { "," sum } ")" | "(" sum ")"
//
// NaN is missing, stays missing, and is what a division by zero gives.

/** Numbers of as many cells as the column has, or one for all of them. */
export type Operand = Float64Array | number;

type Node = (operand: (name: string) => Operand, count: number) => Operand;

export interface Formula {
  readonly names: readonly string[]; // each once, in order of first use
  /** [a, b] where the formula is a - b of two names and nothing else. */
  readonly difference: readonly [string, string] | null;
  evaluate(operand: (name: string) => Operand, count: number): Float64Array;
}

const DEEPEST = 200;
const TOKEN =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[\p{L}_][\p{L}\p{N}_:.]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[\p{L}_]?|\S/gu;
const WANTED = "a number, a metric's name or '(' is wanted";

const finite = (x: number): number => (Number.isFinite(x) ? x : NaN);
const power = (a: number, b: number): number => (Number.isNaN(a) || Number.isNaN(b) ? NaN : finite(a ** b)); // NaN ** 0 would be 1

function map2(a: Operand, b: Operand, count: number, f: (x: number, y: number) => number): Operand {
  if (typeof a === 'number' && typeof b === 'number') return f(a, b);
  const out = new Float64Array(count);
  if (typeof a === 'number') for (let i = 0; i < count; i++) out[i] = f(a, (b as Float64Array)[i]);
  else if (typeof b === 'number') for (let i = 0; i < count; i++) out[i] = f(a[i], b);
  else for (let i = 0; i < count; i++) out[i] = f(a[i], b[i]);
  return out;
}

const OPERATORS: { readonly [sign: string]: (x: number, y: number) => number } = {
  '+': (x, y) => finite(x + y),
  '-': (x, y) => finite(x - y),
  '*': (x, y) => finite(x * y),
  '/': (x, y) => finite(x / y),
};
const FUNCTIONS: { readonly [name: string]: (x: number, y: number) => number } = {
  min: (x, y) => Math.min(x, y),
  max: (x, y) => Math.max(x, y),
  sum: (x, y) => finite(x + y),
};

interface Token {
  readonly text: string;
  readonly at: number; // in characters, from 1
}

class Parser {
  readonly names = new Set<string>();
  private readonly tokens: readonly Token[];
  private readonly end: number;
  private at = 0;
  private depth = 0;

  constructor(text: string) {
    this.tokens = Array.from(text.matchAll(TOKEN), (m) => ({ text: m[0], at: [...text.slice(0, m.index)].length + 1 }));
    this.end = [...text].length + 1;
  }

  whole(): Node {
    const formula = this.sum();
    const rest = this.tokens[this.at];
    if (rest?.text === ')') throw this.wrong("')' closes nothing");
    if (rest?.text === ',') throw this.wrong("',' stands only between the operands of min, max and sum");
    if (rest)
      throw this.wrong(
        `'${[...rest.text][0]}' cannot follow '${this.tokens[this.at - 1].text}'; one of + - * / ^ is wanted`,
      );
    return formula;
  }

  private wrong(said: string, at = this.tokens[this.at]?.at ?? this.end): SyntaxError {
    return new SyntaxError(`character ${at} of the formula: ${said}`);
  }

  private accept(token: string): boolean {
    if (this.tokens[this.at]?.text !== token) return false;
    this.at++;
    return true;
  }

  private chain(signs: readonly string[], part: () => Node): Node {
    let left = part();
    for (;;) {
      const sign = signs.find((s) => this.accept(s));
      if (sign === undefined) return left;
      const a = left;
      const b = part();
      const f = OPERATORS[sign];
      left = (operand, count) => map2(a(operand, count), b(operand, count), count, f);
    }
  }

  private sum(): Node {
    return this.chain(['+', '-'], () => this.product());
  }

  private product(): Node {
    return this.chain(['*', '/'], () => this.signed());
  }

  private signed(): Node {
    if (++this.depth > DEEPEST) throw new SyntaxError(`the formula is nested more than ${DEEPEST} deep`);
    let result: Node;
    if (this.accept('-')) {
      const a = this.signed();
      result = (operand, count) => map2(0, a(operand, count), count, (_, y) => -y);
    } else if (this.accept('+')) result = this.signed();
    else result = this.power();
    this.depth--;
    return result;
  }

  private power(): Node {
    const base = this.atom();
    if (!this.accept('^')) return base;
    const exponent = this.signed();
    return (operand, count) => map2(base(operand, count), exponent(operand, count), count, power);
  }

  private named(name: string): Node {
    this.names.add(name);
    return (operand) => operand(name);
  }

  private atom(): Node {
    const token = this.tokens[this.at];
    if (token === undefined) {
      const before = this.tokens[this.at - 1];
      throw this.wrong(`${before ? `nothing after '${before.text}'` : 'there is nothing'}; ${WANTED}`);
    }
    const { text } = token;
    this.at++;
    if (text === '(') return this.closed(this.sum(), token);
    if (/^["'].+["']$/su.test(text)) return this.named(text.slice(1, -1).replace(/\\(.)/gs, '$1'));
    if (/^(\d|\.\d)/.test(text)) {
      const value = Number(text);
      if (!Number.isFinite(value)) throw this.wrong(`'${text}' is not a number`, token.at);
      return () => value;
    }
    if (!/^[\p{L}_]/u.test(text)) {
      this.at--;
      throw this.wrong(
        /^["']/.test(text) ? `the quote ${text[0]} is not closed` : `'${text}' cannot stand here; ${WANTED}`,
      );
    }
    return this.tokens[this.at]?.text === '(' ? this.call(token) : this.named(text);
  }

  private closed(inside: Node, open: Token): Node {
    if (this.tokens[this.at]?.text === ',')
      throw this.wrong("',' stands only between the operands of min, max and sum");
    if (!this.accept(')')) throw this.wrong("what is opened here is not closed; ')' is missing", open.at);
    return inside;
  }

  private call(name: Token): Node {
    if (!Object.hasOwn(FUNCTIONS, name.text))
      throw this.wrong(`there is no function '${name.text}'; there are min, max and sum`, name.at);
    const f = FUNCTIONS[name.text];
    const open = this.tokens[this.at++];
    const args = [this.sum()];
    while (this.accept(',')) args.push(this.sum());
    this.closed(args[0], open);
    return (operand, count) => args.map((a) => a(operand, count)).reduce((a, b) => map2(a, b, count, f));
  }
}

const NAME = String.raw`\s*("(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+'|[\p{L}_][\p{L}\p{N}_:.]*)\s*`;
const DIFFERENCE = new RegExp(`^${NAME}-${NAME}$`, 'u');

/** The formula, or what is wrong with it: a sentence. */
export function readFormula(text: string): Formula | string {
  try {
    const parser = new Parser(text);
    const node = parser.whole();
    const names = [...parser.names];
    return {
      names,
      difference: DIFFERENCE.test(text) && names.length === 2 ? [names[0], names[1]] : null,
      evaluate(operand, count) {
        const result = node(operand, count);
        return typeof result === 'number' ? new Float64Array(count).fill(result) : result;
      },
    };
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}

/** null where the text is beyond us; then a value over several places is blank. */
export function parseFormula(text: string): Formula | null {
  const formula = readFormula(text);
  return typeof formula === 'string' ? null : formula;
}
