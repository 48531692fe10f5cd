// Patterns run as machines that are in many states at once: a pattern costs its length times that of the text at most,
// whatever both say, where a regular expression could be made to try for ever.

/** A piece of one part of a pattern: literal, or of any characters; and how often it may come. */
interface PatternPiece {
  readonly before: string
  /** Nothing for a literal: characters other than this one, at least one; or, without it, any. */
  readonly body?: { readonly except: string | undefined; readonly min: 0 | 1 }
  readonly after: string
  readonly modifier: '' | '?' | '+' | '*'
}

const NAME_PATTERN = /:[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy
const MODIFIERS = '?+*'

/**
 * Reads a part of a pattern that `URLPattern` has normalized, so without mistakes.
 * @param delimiter what a named piece does not reach across
 */
export function parseComponent(text: string, delimiter: string): PatternPiece[] {
  const pieces: PatternPiece[] = []
  // The one before a piece belongs to it: `/a/:b?` is `/a{/:b}?`.
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

/** What a part begins with, and whether that is all of it. */
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

// Steps of a program: what each needs of a character, and where it goes on.
const STEP_KIND = { char: 0, any: 1, except: 2, fork: 3, end: 4 } as const

/** A part of a pattern, ready to be compared. */
export interface PatternProgram {
  /** What texts begin with. */
  readonly start: string
  /** Three numbers a step: what it does, a character or a place, another place. Nothing where nothing follows. */
  readonly steps: readonly number[] | undefined
}

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

/** More than a pattern and a topic that mean no harm take. */
const MAX_STEPS = 16_384

let marks = new Uint32Array(1_024)
let mark = 0

/** Whether a program accepts a whole text; not where that takes too many steps. */
export function testProgram({ start, steps }: PatternProgram, text: string): boolean {
  if (!steps) return text === start
  return text.startsWith(start) && runSteps(steps, text, start.length)
}

function runSteps(program: readonly number[], text: string, from: number): boolean {
  if (marks.length < program.length) marks = new Uint32Array(program.length)
  let remaining = MAX_STEPS
  let current: number[] = []
  let next: number[] = []

  /** Adds the places that are reached from one without taking a character. */
  function addState(states: number[], state: number): void {
    const stack = [state]
    for (let reached = stack.pop(); reached !== undefined; reached = stack.pop()) {
      if (marks[reached] === mark) continue
      marks[reached] = mark
      remaining--
      const at = reached * 3
      if (program[at] === STEP_KIND.fork) stack.push(program[at + 2]!, program[at + 1]!)
      else states.push(reached)
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
        (kind === STEP_KIND.except && expected !== code)
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
