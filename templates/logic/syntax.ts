// SPDX-License-Identifier: BSD-3-Clause
// Light colouring of source text: comments, strings, numbers, keywords. One line at a time, with what is open at its
// start.

export type TokenKind = 'plain' | 'comment' | 'string' | 'number' | 'keyword' | 'directive';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** The state at the beginning of a line. */
export type LineState = 'code' | 'comment' | 'triple-single' | 'triple-double';

export interface Language {
  readonly name: string;
  readonly keywords: ReadonlySet<string>;
  readonly ignoreCase: boolean;
  readonly token: RegExp; // sticky; named groups are token kinds
  readonly open?: { readonly [start: string]: LineState };
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const C_WORDS = `alignas alignof asm auto bool break case catch char class const consteval constexpr const_cast
  continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern
  false final float for friend goto if inline int long mutable namespace new noexcept nullptr operator override
  private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert
  static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using
  virtual void volatile while _Atomic _Bool _Complex __global__ __device__ __host__ __restrict__ size_t int8_t int16_t
  int32_t int64_t uint8_t uint16_t uint32_t uint64_t`;
const RUST_WORDS = `as async await break const continue crate dyn else enum extern false fn for if impl in let loop
  match mod move mut pub ref return self Self static struct super trait true type unsafe use where while bool char f32
  f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize`;
const PYTHON_WORDS = `and as assert async await break class continue def del elif else except finally for from global
  if import in is lambda nonlocal not or pass raise return try while with yield None True False self`;
const FORTRAN_WORDS = `abstract allocatable allocate associate bind block call case character class close codimension
  common complex concurrent contains contiguous continue critical cycle data deallocate default deferred dimension do
  double elemental else elseif elsewhere end endif enddo endfunction endmodule endsubroutine endprogram entry enum
  enumerator equivalence error exit extends external final forall format function generic goto if implicit import
  impure in include inout inquire integer intent interface intrinsic kind len logical module namelist none
  non_recursive nullify only open operator optional out parameter pass pause pointer precision print private procedure
  program protected public pure read real recursive result return rewind save select sequence stop submodule
  subroutine sync target then to type unlock use value volatile wait where while write`;

const C_LIKE =
  /(?<comment>\/\/.*|\/\*)|(?<string>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(?<number>\b\d(?:[eEpP][+-]|[\w.'])*)|(?<word>[A-Za-z_]\w*)|(?<directive>^\s*#\s*\w+)|(?<plain>[^\w"'/#]+|.)/y;

const LANGUAGES: readonly (Language & { readonly endings: RegExp })[] = [
  {
    name: 'C, C++',
    endings: /\.(c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|inl|ipp|tcc|cu|cuh)$|\/[a-z_]+$/i,
    keywords: words(C_WORDS),
    ignoreCase: false,
    token: C_LIKE,
    open: { '/*': 'comment' },
  },
  {
    name: 'Rust',
    endings: /\.rs$/i,
    keywords: words(RUST_WORDS),
    ignoreCase: false,
    open: { '/*': 'comment' },
    // a quote is a lifetime unless it closes after one character
    token:
      /(?<comment>\/\/.*|\/\*)|(?<string>b?"(?:[^"\\]|\\.)*"?|b?'(?:[^'\\]|\\.[^']*)')|(?<number>\b\d[\w]*(?:\.\d\w*)?)|(?<word>[A-Za-z_]\w*)|(?<directive>^\s*#!?\[[^\]]*\]?)|(?<plain>[^\w"'/#]+|.)/y,
  },
  {
    name: 'Python',
    endings: /\.pyx?$/i,
    keywords: words(PYTHON_WORDS),
    ignoreCase: false,
    open: { '"""': 'triple-double', "'''": 'triple-single' },
    token:
      /(?<comment>#.*|"""|''')|(?<string>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(?<number>\b\d[\w.]*)|(?<word>[A-Za-z_]\w*)|(?<directive>^\s*@[\w.]+)|(?<plain>[^\w"'#@]+|.)/y,
  },
  {
    name: 'Fortran',
    endings: /\.(f|f77|for|ftn|f90|f95|f03|f08|f18)$/i,
    keywords: words(FORTRAN_WORDS),
    ignoreCase: true,
    token:
      /(?<directive>^\s*(?:#\s*\w+|[!cC*]\$\w*.*))|(?<comment>!.*)|(?<string>"[^"]*"?|'[^']*'?)|(?<number>\b\d+\.?\d*(?:[dDeE][+-]?\d+)?(?:_\w+)?)|(?<word>[A-Za-z_]\w*)|(?<plain>[^\w"'!#]+|.)/y,
  },
];

export function languageOf(fileName: string): Language | null {
  return LANGUAGES.find((l) => l.endings.test(fileName)) ?? null;
}

const CLOSE: { readonly [S in Exclude<LineState, 'code'>]: string } = {
  comment: '*/',
  'triple-single': "'''",
  'triple-double': '"""',
};

/** Longer lines are not coloured: generated code of that kind is not read. */
const LONGEST = 2000;

export function tokenize(
  language: Language | null,
  text: string,
  state: LineState,
): { tokens: Token[]; state: LineState } {
  const tokens: Token[] = [];
  const push = (kind: TokenKind, part: string): void => {
    const last = tokens[tokens.length - 1];
    if (last && last.kind === kind) tokens[tokens.length - 1] = { kind, text: last.text + part };
    else if (part) tokens.push({ kind, text: part });
  };
  if (!language || text.length > LONGEST) return { tokens: text ? [{ kind: 'plain', text }] : [], state: 'code' };
  let at = 0;
  while (at < text.length || state !== 'code') {
    if (state !== 'code') {
      const close = text.indexOf(CLOSE[state], at);
      const end = close < 0 ? text.length : close + CLOSE[state].length;
      push(state === 'comment' ? 'comment' : 'string', text.slice(at, end));
      at = end;
      if (close < 0) return { tokens, state };
      state = 'code';
      continue;
    }
    language.token.lastIndex = at;
    const match = language.token.exec(text);
    if (!match) {
      push('plain', text.slice(at));
      break;
    }
    const opens: LineState | undefined = language.open?.[match[0]];
    const groups = match.groups ?? {};
    if (opens) {
      push(opens === 'comment' ? 'comment' : 'string', match[0]);
      state = opens;
    } else if (groups['word'] !== undefined) {
      push(
        language.keywords.has(language.ignoreCase ? match[0].toLowerCase() : match[0]) ? 'keyword' : 'plain',
        match[0],
      );
    } else {
      push((Object.keys(groups).find((kind) => groups[kind] !== undefined) ?? 'plain') as TokenKind, match[0]);
    }
    at += match[0].length;
    if (opens && at >= text.length) return { tokens, state };
  }
  return { tokens, state };
}

/** The state after this line; for most lines found without looking at their tokens. */
function stateAfter(language: Language | null, text: string, state: LineState): LineState {
  const opens = Object.keys(language?.open ?? {});
  if (state === 'code' && !opens.some((open) => text.includes(open))) return state;
  const isClosed = opens[0] === '/*' && text.lastIndexOf('*/') > text.lastIndexOf('/*') + 1;
  return isClosed ? 'code' : tokenize(language, text, state).state;
}

/** Tokens of a file's lines, made as they are asked for. */
export class Colouring {
  readonly #states: LineState[] = ['code'];
  readonly #known = new Map<number, Token[]>();

  constructor(
    private readonly language: Language | null,
    private readonly lines: readonly string[],
  ) {}

  line(index: number): Token[] {
    for (let i = this.#states.length - 1; i < index; i++)
      this.#states.push(stateAfter(this.language, this.lines[i], this.#states[i]));
    let tokens = this.#known.get(index);
    if (!tokens) {
      tokens = tokenize(this.language, this.lines[index], this.#states[index]).tokens;
      if (this.#known.size > 5000) this.#known.clear();
      this.#known.set(index, tokens);
    }
    return tokens;
  }
}
