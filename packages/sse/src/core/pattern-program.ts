// Patterns run as machines that are in many states at once: a pattern costs its length times that of the text at most,
// whatever both say, where a regular expression could be made to try for ever.

/** A piece of one part of a pattern: literal, or of any characters; and how often it may come. */
interface Piece {
  readonly before: string
  /** Nothing for a literal: characters other than this one, at least one; or, without it, any. */
  readonly body?: { readonly except: string | undefined; readonly least: 0 | 1 }
  readonly after: string
  readonly times: '' | '?' | '+' | '*'
}

const NAME = /:[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy
const TIMES = '?+*'

/**
 * Reads a part of a pattern that `URLPattern` has normalized, so without mistakes.
 * @param delimiter what a named piece does not reach across
 */
export function parsePart(text: string, delimiter: string): Piece[] {
  const pieces: Piece[] = []
  // The one before a piece belongs to it: `/a/:b?` is `/a{/:b}?`.
  const prefix = delimiter === '/' ? '/' : ''
  let literal = ''
  let endsEscaped = false
  let at = 0

  const takeTimes = () => (TIMES.includes(text[at] ?? '-') ? (text[at++] as Piece['times']) : '')
  function takeBody(): Piece['body'] {
    if (text[at] === '*') {
      at++
      return { except: undefined, least: 0 }
    }
    NAME.lastIndex = at
    if (!NAME.test(text)) return undefined
    at = NAME.lastIndex
    return { except: delimiter, least: 1 }
  }
  function takeText(): string {
    let taken = ''
    while (at < text.length && !':*{}'.includes(text[at]!)) {
      if (text[at] === '\\') at++
      taken += text[at++]
    }
    return taken
  }
  function flush(): void {
    if (literal !== '') pieces.push({ before: literal, after: '', times: '' })
    literal = ''
  }

  while (at < text.length) {
    if (text[at] === '{') {
      flush()
      at++
      const before = takeText()
      const body = takeBody()
      const after = takeText()
      at++
      pieces.push({ before, body, after, times: takeTimes() })
      continue
    }
    const isEscaped = text[at] === '\\'
    if (!isEscaped) {
      const body = takeBody()
      if (body) {
        const before = prefix !== '' && literal.endsWith(prefix) && !endsEscaped ? prefix : ''
        literal = literal.slice(0, literal.length - before.length)
        flush()
        pieces.push({ before, body, after: '', times: takeTimes() })
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
export function literalStart(pieces: Piece[] | undefined): { readonly text: string; readonly isAll: boolean } {
  if (pieces?.length === 0) return { text: '', isAll: true }
  const first = pieces?.[0]
  if (!first || first.times === '?' || first.times === '*') return { text: '', isAll: false }
  return { text: first.before, isAll: pieces!.length === 1 && !first.body && first.times === '' && first.after === '' }
}

// Steps of a program: what each needs of a character, and where it goes on.
const STEP = { char: 0, any: 1, except: 2, fork: 3, end: 4 } as const

/** A part of a pattern, ready to be compared. */
export interface Program {
  /** What texts begin with. */
  readonly start: string
  /** Three numbers a step: what it does, a character or a place, another place. Nothing where nothing follows. */
  readonly steps: readonly number[] | undefined
}

export function compile(pieces: readonly Piece[]): Program {
  const [first] = pieces
  const isLiteral = first && !first.body && first.times === ''
  const rest = isLiteral ? pieces.slice(1) : pieces
  return { start: isLiteral ? first.before : '', steps: rest.length === 0 ? undefined : stepsOf(rest) }
}

function stepsOf(pieces: readonly Piece[]): number[] {
  const steps: number[] = []
  const next = () => steps.length / 3
  const emit = (kind: number, a = 0, b = 0) => steps.push(kind, a, b) / 3 - 1
  const emitText = (text: string) => {
    for (let i = 0; i < text.length; i++) emit(STEP.char, text.charCodeAt(i))
  }
  for (const { before, body, after, times } of pieces) {
    const start = next()
    const skip = times === '?' || times === '*' ? emit(STEP.fork, start + 1) : -1
    emitText(before)
    if (body) {
      const around = body.least === 0 ? emit(STEP.fork, next() + 1) : -1
      const again = body.except ? emit(STEP.except, body.except.charCodeAt(0)) : emit(STEP.any)
      emit(STEP.fork, again, next() + 1)
      if (around >= 0) steps[around * 3 + 2] = next()
    }
    emitText(after)
    if (times === '+' || times === '*') emit(STEP.fork, start, next() + 1)
    if (skip >= 0) steps[skip * 3 + 2] = next()
  }
  emit(STEP.end)
  return steps
}

/** More than a pattern and a topic that mean no harm take. */
const MOST_STEPS = 16_384

let marks = new Uint32Array(1_024)
let mark = 0

/** Whether a program accepts a whole text; not where that takes too many steps. */
export function accepts({ start, steps }: Program, text: string): boolean {
  if (!steps) return text === start
  return text.startsWith(start) && runs(steps, text, start.length)
}

function runs(program: readonly number[], text: string, from: number): boolean {
  if (marks.length < program.length) marks = new Uint32Array(program.length)
  let left = MOST_STEPS
  let now: number[] = []
  let then: number[] = []

  /** Adds the places that are reached from one without taking a character. */
  function reach(places: number[], place: number): void {
    const open = [place]
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (marks[one] === mark) continue
      marks[one] = mark
      left--
      const at = one * 3
      if (program[at] === STEP.fork) open.push(program[at + 2]!, program[at + 1]!)
      else places.push(one)
    }
  }

  begin()
  reach(now, 0)
  for (let i = from; i < text.length && now.length > 0; i++) {
    if ((left -= now.length) < 0) return false
    const code = text.charCodeAt(i)
    begin()
    for (const place of now) {
      const kind = program[place * 3]
      const wanted = program[place * 3 + 1]
      if (kind === STEP.any || (kind === STEP.char && wanted === code) || (kind === STEP.except && wanted !== code))
        reach(then, place + 1)
    }
    ;[now, then] = [then, now]
    then.length = 0
  }
  return now.some((place) => program[place * 3] === STEP.end)
}

function begin(): void {
  if (++mark < 0xffff_ffff) return
  marks.fill(0)
  mark = 1
}
