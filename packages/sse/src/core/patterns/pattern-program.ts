import { isInClass } from './character-classes.ts'

// A pattern is compiled to an automaton. A test follows all possible states of the automaton at once, so its cost is at
// most the length of the pattern times the length of the text. As a regular expression, a crafted pattern could run for
// an unlimited time.

/** Piece of a pattern component: a literal or a wildcard, with a repetition modifier. */
interface PatternPiece {
  /** Literal text before the wildcard, or the whole literal. */
  readonly before: string
  /**
   * Wildcard: `min` or more characters, none of them `except`. If `except` is empty or undefined, every character is
   * allowed. `body` is undefined for a literal.
   */
  readonly body?: { readonly except: string | undefined; readonly min: 0 | 1 }
  /** Literal text after the wildcard. */
  readonly after: string
  /** Repetition of the whole piece, as in regular expressions. */
  readonly modifier: '' | '?' | '+' | '*'
}

const NAME_PATTERN = /:[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy
const MODIFIERS = '?+*'

/**
 * Parses a component of a pattern. `URLPattern` has normalized the pattern, so it contains no errors.
 * @param delimiter the character that a named group (`:name`) does not match; empty if it matches every character
 */
export function parseComponent(text: string, delimiter: string): PatternPiece[] {
  const pieces: PatternPiece[] = []
  // A slash directly before a wildcard belongs to its piece: `/a/:b?` is `/a{/:b}?`.
  const prefix = delimiter === '/' ? '/' : ''
  let literal = ''
  let endsEscaped = false
  let at = 0

  const readModifier = () => (MODIFIERS.includes(text[at] ?? '-') ? (text[at++] as PatternPiece['modifier']) : '')
  function readBody(): PatternPiece['body'] {
    if (text[at] === '*') {
      at++
      return { except: undefined, min: 0 }
    }
    NAME_PATTERN.lastIndex = at
    if (!NAME_PATTERN.test(text)) return undefined
    at = NAME_PATTERN.lastIndex
    return { except: delimiter, min: 1 }
  }
  function readText(): string {
    let result = ''
    while (at < text.length && !':*{}'.includes(text[at]!)) {
      if (text[at] === '\\') at++
      result += text[at++]
    }
    return result
  }
  function flush(): void {
    if (literal !== '') pieces.push({ before: literal, after: '', modifier: '' })
    literal = ''
  }

  while (at < text.length) {
    if (text[at] === '{') {
      flush()
      at++
      const before = readText()
      const body = readBody()
      const after = readText()
      at++
      pieces.push({ before, body, after, modifier: readModifier() })
      continue
    }
    const isEscaped = text[at] === '\\'
    if (!isEscaped) {
      const body = readBody()
      if (body) {
        const before = prefix !== '' && literal.endsWith(prefix) && !endsEscaped ? prefix : ''
        literal = literal.slice(0, literal.length - before.length)
        flush()
        pieces.push({ before, body, after: '', modifier: readModifier() })
        continue
      }
    }
    if (isEscaped) at++
    literal += text[at++]
    endsEscaped = isEscaped
  }
  flush()
  return pieces
}

/**
 * Returns the literal start of a component. `isAll` is true if the component has nothing else.
 * @param pieces undefined for a component that matches anything
 */
export function getLiteralStart(pieces: PatternPiece[] | undefined): {
  readonly text: string
  readonly isAll: boolean
} {
  if (pieces?.length === 0) return { text: '', isAll: true }
  const first = pieces?.[0]
  if (!first || first.modifier === '?' || first.modifier === '*') return { text: '', isAll: false }
  return {
    text: first.before,
    isAll: pieces!.length === 1 && !first.body && first.modifier === '' && first.after === '',
  }
}

// Kinds of steps. `char`, `any`, `except` and `class` accept one character, and the next step follows. `fork` has two next steps
// and accepts no character. `end` accepts the text.
export const STEP_KIND = { char: 0, any: 1, except: 2, fork: 3, end: 4, class: 5 } as const

/** Compiled component of a pattern. */
export interface PatternProgram {
  /** Literal start of all texts that match. */
  readonly start: string
  /**
   * Three numbers per step: its kind and two arguments. The first argument of `char` and `except` is a character code, that of `class` combines
   * bits of `CHARACTER_CLASS`.
   * The arguments of `fork` are the numbers of the two next steps. Undefined if the program has only the literal start.
   */
  readonly steps: readonly number[] | undefined
}

/** Compiles the pieces of a component. */
export function compile(pieces: readonly PatternPiece[]): PatternProgram {
  const [first] = pieces
  const isLiteral = first && !first.body && first.modifier === ''
  const rest = isLiteral ? pieces.slice(1) : pieces
  return { start: isLiteral ? first.before : '', steps: rest.length === 0 ? undefined : toSteps(rest) }
}

function toSteps(pieces: readonly PatternPiece[]): number[] {
  const steps: number[] = []
  const next = () => steps.length / 3
  const emit = (kind: number, a = 0, b = 0) => steps.push(kind, a, b) / 3 - 1
  const emitText = (text: string) => {
    for (let i = 0; i < text.length; i++) emit(STEP_KIND.char, text.charCodeAt(i))
  }
  for (const { before, body, after, modifier } of pieces) {
    const start = next()
    const skip = modifier === '?' || modifier === '*' ? emit(STEP_KIND.fork, start + 1) : -1
    emitText(before)
    if (body) {
      const skipBody = body.min === 0 ? emit(STEP_KIND.fork, next() + 1) : -1
      const loop = body.except ? emit(STEP_KIND.except, body.except.charCodeAt(0)) : emit(STEP_KIND.any)
      emit(STEP_KIND.fork, loop, next() + 1)
      if (skipBody >= 0) steps[skipBody * 3 + 2] = next()
    }
    emitText(after)
    if (modifier === '+' || modifier === '*') emit(STEP_KIND.fork, start, next() + 1)
    if (skip >= 0) steps[skip * 3 + 2] = next()
  }
  emit(STEP_KIND.end)
  return steps
}

/** Maximum number of steps of one test. Ordinary patterns and topics need fewer. */
export const MAX_STEPS = 16_384

/** For each step, the value of `mark` when the step was last added. So each step is added at most once per character. */
let marks = new Uint32Array(1_024)
/** Number of the current character. It counts the characters of all tests, so marks of an earlier test never match. */
let mark = 0

/** True if the program accepts the whole text. False also if the test needs more than `maxSteps` steps. */
export function testProgram({ start, steps }: PatternProgram, text: string, maxSteps = MAX_STEPS): boolean {
  if (!steps) return text === start
  return text.startsWith(start) && runSteps(steps, text, start.length, maxSteps)
}

function runSteps(program: readonly number[], text: string, from: number, maxSteps: number): boolean {
  if (marks.length < program.length) marks = new Uint32Array(program.length)
  let remaining = maxSteps
  let current: number[] = []
  let next: number[] = []

  /** Adds a state, which is the number of a step. Instead of a `fork`, adds the states to which the fork leads. */
  function addState(states: number[], from: number): void {
    const stack = [from]
    for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
      if (marks[state] === mark) continue
      marks[state] = mark
      remaining--
      const at = state * 3
      if (program[at] === STEP_KIND.fork) stack.push(program[at + 2]!, program[at + 1]!)
      else states.push(state)
    }
  }

  beginCharacter()
  addState(current, 0)
  for (let i = from; i < text.length && current.length > 0; i++) {
    if ((remaining -= current.length) < 0) return false
    const code = text.charCodeAt(i)
    beginCharacter()
    for (const state of current) {
      const kind = program[state * 3]
      const expected = program[state * 3 + 1]
      if (
        kind === STEP_KIND.any ||
        (kind === STEP_KIND.char && expected === code) ||
        (kind === STEP_KIND.except && expected !== code) ||
        (kind === STEP_KIND.class && isInClass(code, expected!))
      )
        addState(next, state + 1)
    }
    ;[current, next] = [next, current]
    next.length = 0
  }
  return current.some((state) => program[state * 3] === STEP_KIND.end)
}

function beginCharacter(): void {
  if (++mark < 0xffff_ffff) return
  marks.fill(0)
  mark = 1
}
