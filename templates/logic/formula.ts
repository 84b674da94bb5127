// SPDX-License-Identifier: BSD-3-Clause
// Formulas, in the grammar of doc/formats/configuration.md (metrics/formula/expr_parse.c has the same), computed column by
// column. Values and messages are tested against tests/formulas/ in both places.
// NaN is missing, stays missing, and is the result of a division by zero.

/** Numbers of as many cells as the column has, or one for all of them. */
export type Operand = Float64Array | number;

export type Form = '' | 'inclusive' | 'exclusive';
export type At = '' | 'total' | 'parent';

/** The form of a metric that a formula uses. */
export interface Reference {
  readonly text: string; // as it is written: total(M), run(x).M, mean(M over threads)
  readonly name: string;
  readonly run: string; // '': none is named
  readonly form: Form;
  readonly at: At;
  readonly statistic: string; // mean, max, ...; '': none
  readonly over: string;
}

type Node = (operand: (reference: number) => Operand, count: number) => Operand;

export interface Formula {
  readonly references: readonly Reference[]; // each once, in order of first use
  /** Where the formula is a - b of two metrics and nothing else. */
  readonly isDifference: boolean;
  /** Whether values of it add up: a sum of multiples of metrics. */
  readonly isSum: boolean;
  evaluate(operand: (reference: number) => Operand, count: number): Float64Array;
}

const DEEPEST = 200;
const WORD = String.raw`[\p{L}_][\p{L}\p{N}_:.]*`;
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
/** A name may have parts in quotes: RUN."perf::TASK-CLOCK", "a run".CYCLES. */
const PART = `(?:${WORD}\\.)?(?:${QUOTED})`;
const NAME = `(?:${PART}(?:\\.${PART})*(?:\\.${WORD})?|${WORD})`;
const WITH_QUOTES = new RegExp(`^(?=[^]*["'])${NAME}$`, 'su');
const PARTS = new RegExp(`${QUOTED}|[^"']+`, 'gsu');
const TOKEN = new RegExp(
  String.raw`${NAME}|(?:\d[\d.]*|\.\d[\d.]*)(?:[eE][+-]?\d+)?[\p{L}\p{N}_:.%]*|[<>=!]=|\S`,
  'gu',
);
const OPERAND_EXPECTED = "expected a number, the name of a metric or '('";
const OPERATOR_EXPECTED = 'expected one of + - * / ^ < <= == != >= > and or';
const NAME_EXPECTED = 'expected the name of a metric, as in total(M), run(NAME).M or mean(M over threads)';

const finite = (x: number): number => (Number.isFinite(x) ? x : NaN);
const missing = Number.isNaN;
const truth = (a: number, b: number, holds: boolean): number => (missing(a) || missing(b) ? NaN : holds ? 1 : 0);

type Two = (x: number, y: number) => number;
type One = (x: number) => number;

const COMPARISONS: { readonly [sign: string]: Two } = {
  '<': (x, y) => truth(x, y, x < y),
  '<=': (x, y) => truth(x, y, x <= y),
  '>': (x, y) => truth(x, y, x > y),
  '>=': (x, y) => truth(x, y, x >= y),
  '==': (x, y) => truth(x, y, x === y),
  '!=': (x, y) => truth(x, y, x !== y),
};
const OPERATORS: { readonly [sign: string]: Two } = {
  '+': (x, y) => finite(x + y),
  '-': (x, y) => finite(x - y),
  '*': (x, y) => finite(x * y),
  '/': (x, y) => finite(x / y),
  '^': (x, y) => (missing(x) || missing(y) ? NaN : finite(x ** y)), // NaN ** 0 would be 1
  and: (x, y) => truth(x, y, x !== 0 && y !== 0),
  or: (x, y) => truth(x, y, x !== 0 || y !== 0),
};
const ROUND: One = (x) => Math.sign(x) * Math.floor(Math.abs(x) + 0.5); // halves away from zero
const OF_ONE: { readonly [name: string]: One } = {
  sqrt: Math.sqrt,
  log: Math.log,
  exp: Math.exp,
  abs: Math.abs,
  floor: Math.floor,
  ceil: Math.ceil,
  round: ROUND,
};
const OF_MANY: { readonly [name: string]: Two } = {
  min: (x, y) => Math.min(x, y),
  max: (x, y) => Math.max(x, y),
  sum: OPERATORS['+'],
  mean: OPERATORS['+'],
  or: (x, y) => (missing(x) ? y : x),
};
const FUNCTIONS = ['min', 'max', 'sum', 'mean', ...Object.keys(OF_ONE), 'if', 'or'];
const STATISTICS = ['sum', 'mean', 'min', 'max', 'stddev', 'imbalance', 'count', 'argmax'];
const MODIFIERS = ['total', 'parent', 'share', 'inclusive', 'exclusive', ...STATISTICS];
const DIMENSIONS = ['threads', 'ranks', 'repetitions'];
const NUMBER = /^((?:\d[\d.]*|\.\d[\d.]*)(?:[eE][+-]?\d+)?)(Ki|Mi|Gi|Ti|[kMGTPmun])?(s|B|Hz)?$/u;
const PREFIXES: { readonly [prefix: string]: number } = {
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 },
  ...{ k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, m: 1e-3, u: 1e-6, n: 1e-9 },
};
/** Units of a time in a second: exact, as 1e-9 is not. */
const PER_SECOND: { readonly [unit: string]: number } = { ns: 1e9, us: 1e6, ms: 1e3, s: 1 };

function map1(a: Operand, f: One): Operand {
  return typeof a === 'number' ? finite(f(a)) : a.map((x) => finite(f(x)));
}

function map2(a: Operand, b: Operand, count: number, f: Two): Operand {
  if (typeof a === 'number' && typeof b === 'number') return f(a, b);
  const out = new Float64Array(count);
  if (typeof a === 'number') for (let i = 0; i < count; i++) out[i] = f(a, (b as Float64Array)[i]);
  else if (typeof b === 'number') for (let i = 0; i < count; i++) out[i] = f(a[i], b);
  else for (let i = 0; i < count; i++) out[i] = f(a[i], b[i]);
  return out;
}

function choose(condition: Operand, yes: Operand, no: Operand, count: number): Operand {
  const at = (o: Operand, i: number): number => (typeof o === 'number' ? o : o[i]);
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const c = at(condition, i);
    out[i] = missing(c) ? NaN : at(c !== 0 ? yes : no, i);
  }
  return out;
}

interface Token {
  readonly text: string;
  readonly at: number; // in characters, from 1
  readonly from: number; // in the text
}

/** The dependence of a part of a formula on its metrics; see expr_is_linear in metrics/formula/expr_eval.c. */
const enum Shape {
  Zero,
  Constant,
  Linear,
  Other,
}

interface Part {
  readonly node: Node;
  readonly shape: Shape;
}

const isConstant = (s: Shape): boolean => s === Shape.Zero || s === Shape.Constant;

function shapeOf(sign: string, a: Shape, b: Shape): Shape {
  const numbers = isConstant(a) && isConstant(b);
  if (sign === 'first') return a === Shape.Linear && b === Shape.Zero ? a : numbers ? Shape.Constant : Shape.Other;
  if (numbers) return Shape.Constant;
  if (sign === '+' || sign === '-') return a === b ? a : Shape.Other;
  if (sign === '*') return isConstant(a) ? b : isConstant(b) ? a : Shape.Other;
  if (sign === '/') return isConstant(b) ? a : Shape.Other;
  return Shape.Other;
}

const isName = (text: string | undefined): boolean => text !== undefined && /^[\p{L}_]/u.test(text);
const isQuoted = (text: string): boolean => WITH_QUOTES.test(text) && text !== '""' && text !== "''";
const isPartQuoted = (part: string): boolean => part.startsWith('"') || part.startsWith("'");
const unquoted = (text: string): string =>
  text.replace(PARTS, (part) => (isPartQuoted(part) ? part.slice(1, -1).replace(/\\(.)/gsu, '$1') : part));

class Parser {
  readonly references: Reference[] = [];
  readonly #tokens: readonly Token[];
  readonly #end: number;
  readonly #perSecond: number;
  readonly #text: string;
  private at = 0;
  #last = 0; // token where the last operand or operator began
  #depth = 0;

  constructor(text: string, perSecond: number) {
    this.#text = text;
    this.#tokens = Array.from(text.matchAll(TOKEN), (m) => ({
      text: m[0],
      at: [...text.slice(0, m.index)].length + 1,
      from: m.index,
    }));
    this.#end = [...text].length + 1;
    this.#perSecond = perSecond;
  }

  whole(): Part {
    const formula = this.#either();
    const rest = this.#tokens[this.at];
    if (rest?.text.startsWith(')')) throw this.#wrong("unmatched ')'");
    if (rest?.text === ',') throw this.#wrong("',' is only allowed between operands of a function");
    if (rest) throw this.#cannotFollow(rest);
    return formula;
  }

  #cannotFollow(token: Token): SyntaxError {
    return this.#wrong(`unexpected '${[...token.text][0]}' after '${this.#lastText()}'; ${OPERATOR_EXPECTED}`);
  }

  #lastText(): string {
    const end = this.#tokens[this.at - 1];
    return this.#text.slice(this.#tokens[this.#last].from, end.from + end.text.length);
  }

  #wrong(said: string, at = this.#tokens[this.at]?.at ?? this.#end): SyntaxError {
    return new SyntaxError(`character ${at} of the formula: ${said}`);
  }

  #peek(): string | undefined {
    return this.#tokens[this.at]?.text;
  }

  #accept(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#step();
    return true;
  }

  #step(): void {
    this.#last = this.at++;
  }

  #deeper<T>(inside: () => T): T {
    if (++this.#depth > DEEPEST) throw new SyntaxError(`the formula is nested more than ${DEEPEST} deep`);
    const result = inside();
    this.#depth--;
    return result;
  }

  #chain(signs: readonly string[], part: () => Part): Part {
    let left = part();
    for (;;) {
      const sign = signs.find((s) => this.#accept(s));
      if (sign === undefined) return left;
      left = this.#two(sign, OPERATORS[sign], left, part());
    }
  }

  #two(sign: string, f: Two, a: Part, b: Part): Part {
    return {
      node: (operand, count) => map2(a.node(operand, count), b.node(operand, count), count, f),
      shape: shapeOf(sign, a.shape, b.shape),
    };
  }

  #one(f: One, a: Part): Part {
    return {
      node: (operand, count) => map1(a.node(operand, count), f),
      shape: isConstant(a.shape) ? Shape.Constant : Shape.Other,
    };
  }

  #either(): Part {
    return this.#deeper(() => this.#chain(['or'], () => this.#chain(['and'], () => this.#not())));
  }

  #not(): Part {
    if (!this.#accept('not')) return this.#comparison();
    return this.#deeper(() => this.#one((x) => (missing(x) ? NaN : x === 0 ? 1 : 0), this.#not()));
  }

  #comparison(): Part {
    const a = this.#sum();
    const sign = this.#peek();
    if (sign === undefined || !Object.hasOwn(COMPARISONS, sign)) return a;
    this.#step();
    const b = this.#sum();
    if (Object.hasOwn(COMPARISONS, this.#peek() ?? ''))
      throw this.#wrong('comparisons do not chain; write A < B and B < C');
    return this.#two(sign, COMPARISONS[sign], a, b);
  }

  #sum(): Part {
    return this.#chain(['+', '-'], () => this.#chain(['*', '/'], () => this.#signed()));
  }

  #signed(): Part {
    return this.#deeper(() => {
      if (this.#accept('-')) {
        const a = this.#signed();
        return { node: (operand, count) => map1(a.node(operand, count), (x) => -x), shape: a.shape };
      }
      return this.#accept('+') ? this.#signed() : this.#power();
    });
  }

  #power(): Part {
    const base = this.#atom();
    return this.#accept('^') ? this.#two('^', OPERATORS['^'], base, this.#signed()) : base;
  }

  // ---- atoms ----

  #atom(): Part {
    const token = this.#tokens[this.at];
    if (token === undefined) {
      const problem = this.at > 0 ? `missing operand after '${this.#lastText()}'` : 'empty formula';
      throw this.#wrong(`${problem}; ${OPERAND_EXPECTED}`);
    }
    const { text } = token;
    const start = this.at;
    const reference = this.#reference();
    if (reference) this.#last = start;
    if (reference) return reference;
    this.#step();
    if (text === '(') return this.#closed(this.#either(), token);
    if (isQuoted(text)) return this.#metric({ name: unquoted(text) });
    if (/^\.?\d/u.test(text)) return this.#number(token);
    this.at--;
    if (text === '""' || text === "''") throw this.#wrong('a name in quotes is empty');
    if (/^["']/u.test(text)) throw this.#wrong(`the quote ${text[0]} is not closed`);
    if (!isName(text)) throw this.#wrong(`unexpected '${[...text][0]}'; ${OPERAND_EXPECTED}`);
    if (text === 'not') throw this.#wrong("'not' has lower precedence than the preceding operator; put it in parentheses");
    this.at++;
    if (this.#peek() === '(') return this.#call(token);
    this.at--;
    if (text === 'and' || text === 'or')
      throw this.#wrong(`unexpected '${text}'; quote it if it is the name of a metric`);
    this.at++;
    return this.#metric({ name: text });
  }

  #number(token: Token): Part {
    const percent = token.text.endsWith('%');
    const match = NUMBER.exec(percent ? token.text.slice(0, -1) : token.text);
    const digits = Number(match?.[1]);
    if (!match || missing(digits) || (percent && (match[2] || match[3])))
      throw this.#wrong(
        `'${token.text.slice(0, 40)}' is not a number (optionally followed by k, M, G, T, Ki, Mi, Gi, m, u, n, s, B, Hz or %); quote a metric name that begins with a digit`,
        token.at,
      );
    const factor = (percent ? 0.01 : 1) * (match[2] ? PREFIXES[match[2]] : 1);
    const value = digits * factor;
    if (!Number.isFinite(value)) throw this.#wrong(`the number ${token.text.slice(0, 40)} is too large`, token.at);
    const inUnit = match[3] === 's' ? value * this.#perSecond : value;
    return { node: () => inUnit, shape: value === 0 ? Shape.Zero : Shape.Constant };
  }

  #metric(wanted: Partial<Reference> & { readonly name: string }): Part {
    const r = { run: '', form: '', at: '', statistic: '', over: '', ...wanted } as Omit<Reference, 'text'>;
    const text = referenceText(r);
    let index = this.references.findIndex((known) => known.text === text);
    if (index < 0) index = this.references.push({ ...r, text }) - 1;
    const adds = r.at === '' && (r.statistic === '' || r.statistic === 'sum');
    return {
      node: (operand) => operand(index),
      shape: r.at === 'total' ? Shape.Constant : adds ? Shape.Linear : Shape.Other,
    };
  }

  /** total(M), run(x).M, mean(M over threads); null: something else, perhaps a function called like a statistic. */
  #reference(): Part | null {
    const start = this.at;
    const found: string[] = [];
    let statistic: Token | undefined;
    for (;;) {
      const token = this.#tokens[this.at];
      if (!token || !MODIFIERS.includes(token.text) || this.#tokens[this.at + 1]?.text !== '(') break;
      const isStatistic = STATISTICS.includes(token.text);
      const again = isStatistic ? statistic !== undefined : found.some((f) => excludes(f, token.text));
      if (again || (token.text === 'share' && found.length)) break;
      if (isStatistic) statistic = token;
      found.push(token.text);
      this.at += 2;
    }
    const isRun = this.#peek() === 'run' && this.#tokens[this.at + 1]?.text === '(';
    if (!found.length && !isRun) return null;
    const at = this.#tokens[this.at]?.at ?? this.#end;
    const wanted = this.#metricName();
    const hasOver = wanted !== null && this.#accept('over');
    if (found[0] === statistic?.text && statistic && !hasOver && FUNCTIONS.includes(statistic.text)) {
      this.at = start;
      return null; // min(A, B)
    }
    if (!wanted) throw this.#wrong(NAME_EXPECTED, at);
    const over = hasOver ? this.#tokens[this.at] : undefined;
    if (hasOver && !DIMENSIONS.includes(over?.text ?? ''))
      throw this.#wrong('statistics are over threads, ranks or repetitions');
    if (hasOver && !statistic) throw this.#wrong("'over' is only allowed in a statistic, as in mean(M over threads)");
    if (statistic && !hasOver)
      throw this.#wrong(`'over' is missing, as in ${statistic.text}(M over threads)`, statistic.at);
    if (hasOver) this.at++;
    for (let open = found.length; open > 0; open--)
      if (!this.#accept(')')) throw this.#wrong("')' is missing; only a metric name is allowed here");
    const form = found.find((f) => f === 'inclusive' || f === 'exclusive') ?? '';
    const whole = { ...wanted, form: form as Form, statistic: statistic?.text ?? '', over: over?.text ?? '' };
    const place = (found.find((f) => f === 'total' || f === 'parent') ?? '') as At;
    if (!found.includes('share')) return this.#metric({ ...whole, at: place });
    return this.#two('/', OPERATORS['/'], this.#metric(whole), this.#metric({ ...whole, at: 'total' }));
  }

  /** run(NAME).METRIC or METRIC; null: it is not one. */
  #metricName(): { readonly name: string; readonly run: string } | null {
    const name = (): string | null => {
      const text = this.#peek();
      if (text === undefined || !(isQuoted(text) || isName(text))) return null;
      this.at++;
      return isQuoted(text) ? unquoted(text) : text;
    };
    let run: string | null = '';
    if (this.#peek() === 'run' && this.#tokens[this.at + 1]?.text === '(') {
      this.at += 2;
      run = name();
      if (run === null || !this.#accept(')') || !this.#isDot() || !this.#accept('.')) return null;
    }
    const isBare = isName(this.#peek());
    const metric = name();
    return metric === null || (isBare && this.#peek() === '(') ? null : { name: metric, run };
  }

  /** A '.' without blanks around it. */
  #isDot(): boolean {
    const [before, dot, after] = this.#tokens.slice(this.at - 1);
    return dot?.text === '.' && dot.from === before.from + 1 && after?.from === dot.from + 1;
  }

  #closed<T>(inside: T, open: Token): T {
    if (this.#peek() === ',') throw this.#wrong("',' is only allowed between operands of a function");
    if (this.#peek() !== undefined && !this.#peek()!.startsWith(')')) throw this.#cannotFollow(this.#tokens[this.at]);
    if (!this.#accept(')')) throw this.#wrong("unmatched '('; ')' is missing", open.at);
    return inside;
  }

  #call(name: Token): Part {
    const f = name.text;
    if (!FUNCTIONS.includes(f)) {
      const near = bytesOf(f).length > 3 ? nearest(f, [...FUNCTIONS, ...MODIFIERS]) : null; // all short names are similar
      const hint = near ? `did you mean ${near}?` : `available: ${FUNCTIONS.join(', ')}`;
      throw this.#wrong(`unknown function '${f.slice(0, 60)}'; ${hint}`, name.at);
    }
    this.at++;
    const args = [this.#either()];
    while (this.#accept(',')) args.push(this.#either());
    this.#closed(null, name);
    const wanted = f === 'if' ? 3 : Object.hasOwn(OF_ONE, f) ? 1 : args.length;
    if (args.length !== wanted)
      throw this.#wrong(`${f} takes ${wanted} operand${wanted === 1 ? '' : 's'}, not ${args.length}`, name.at);
    if (Object.hasOwn(OF_ONE, f)) return this.#one(OF_ONE[f], args[0]);
    if (f === 'if') return this.#choice(args);
    const sign = f === 'or' ? 'first' : f === 'min' || f === 'max' ? f : '+';
    const all = args.reduce((a, b) => this.#two(sign, OF_MANY[f], a, b));
    const divide: One = (x) => x / args.length;
    return f === 'mean' ? { node: (o, n) => map1(all.node(o, n), divide), shape: all.shape } : all;
  }

  #choice([condition, yes, no]: readonly Part[]): Part {
    return {
      node: (o, n) => choose(condition.node(o, n), yes.node(o, n), no.node(o, n), n),
      shape: [condition, yes, no].every((p) => isConstant(p.shape)) ? Shape.Constant : Shape.Other,
    };
  }
}

/** Two modifiers of which one formula has one at most. */
function excludes(a: string, b: string): boolean {
  const kinds = [['total', 'parent', 'share'], ['inclusive', 'exclusive']];
  return kinds.some((k) => k.includes(a) && k.includes(b));
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text.toLowerCase());

/** The name nearest to `word` by edit distance (in bytes, as str_nearest in C), ignoring case; null: none is near. */
function nearest(word: string, names: readonly string[]): string | null {
  let best: string | null = null;
  let least = Math.floor(bytesOf(word).length / 3) + 2;
  for (const name of names) {
    const d = editDistance(bytesOf(word), bytesOf(name));
    if (d < least) [best, least] = [name, d];
  }
  return best;
}

function editDistance(a: Uint8Array, b: Uint8Array): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1), row[j] + 1, next[j - 1] + 1));
    row = next;
  }
  return row[b.length];
}

/** A name as a formula needs it: in quotes if necessary. */
export function quoteName(name: string): string {
  if (/^[\p{L}_][\p{L}\p{N}_:.]*$/u.test(name) && !['and', 'or', 'not'].includes(name)) return name;
  return `"${name.replace(/["\\]/gu, '\\$&')}"`;
}

function referenceText(r: Omit<Reference, 'text'>): string {
  const run = r.run ? `run(${quoteName(r.run)}).` : '';
  let text = `${run}${quoteName(r.name)}`;
  if (r.statistic) text = `${r.statistic}(${text} over ${r.over})`;
  if (r.form) text = `${r.form}(${text})`;
  return r.at ? `${r.at}(${text})` : text;
}

/** The formula, or what is wrong with it: a sentence. Times in it (10ms) become `timeUnit`: the unit of its metrics. */
export function readFormula(text: string, timeUnit = 's'): Formula | string {
  try {
    const parser = new Parser(text, PER_SECOND[timeUnit] ?? 1);
    const { node, shape } = parser.whole();
    return {
      references: parser.references,
      isDifference: parser.references.length === 2 && DIFFERENCE.test(text),
      isSum: shape === Shape.Linear,
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

const OPERAND = String.raw`\s*(?:run\s*\([^)]*\)\.)?${NAME}\s*`;
const DIFFERENCE = new RegExp(`^${OPERAND}-${OPERAND}$`, 'u');

/** null where the text is beyond us; then a value over several places is blank. */
export function parseFormula(text: string, timeUnit = 's'): Formula | null {
  const formula = readFormula(text, timeUnit);
  return typeof formula === 'string' ? null : formula;
}
