import { ID_BYTES, type AnswerBlock, type AnswerKind } from './answers.ts'

const DIGITS = Buffer.from('0123456789abcdef')
const DASH = 45
const MINUS = 45
const ZERO = 48
const PREFIX = Buffer.from('{"id":"')
/** Dashes come before these bytes of a UUID. */
const DASHES = new Uint8Array(ID_BYTES)
for (const at of [4, 6, 8, 10]) DASHES[at] = 1

const UUID_TEXT = 36
const NUMBER_TEXT = 32

/** What the answers of a kind have around their value, as bytes. */
export interface KindText {
  readonly before: Buffer
  readonly after: Buffer
}

export const toKindText = ({ spec, currency }: AnswerKind): KindText => ({
  before: Buffer.from(`","spec":${JSON.stringify(spec)},"value":`),
  after: Buffer.from(`,"currency":${JSON.stringify(currency)}}`),
})

/** The most bytes an answer of a kind can take. */
export const longestAnswer = ({ before, after }: KindText): number =>
  PREFIX.length + UUID_TEXT + before.length + NUMBER_TEXT + after.length

function copy(from: Buffer, to: Buffer, at: number): number {
  // Shorter than what a native copy costs to begin.
  for (let i = 0; i < from.length; i++) to[at + i] = from[i]!
  return at + from.length
}

function writeInteger(value: number, to: Buffer, start: number): number {
  let at = start
  let rest = value
  if (rest < 0) {
    to[at++] = MINUS
    rest = -rest
  }
  let end = at + 1
  for (let n = rest; n >= 10; n = Math.floor(n / 10)) end++
  for (let i = end - 1; i >= at; i--) {
    const tenth = Math.floor(rest / 10)
    to[i] = ZERO + rest - tenth * 10
    rest = tenth
  }
  return end
}

/** Writes a row's answer, `{"id","spec","value","currency"}`, and returns where it ends. */
export function writeAnswer(
  block: AnswerBlock,
  slot: number,
  { before, after }: KindText,
  to: Buffer,
  start: number,
): number {
  let at = copy(PREFIX, to, start)
  const { ids } = block
  const first = slot * ID_BYTES
  for (let i = 0; i < ID_BYTES; i++) {
    if (DASHES[i] === 1) to[at++] = DASH
    const byte = ids[first + i]!
    to[at++] = DIGITS[byte >> 4]!
    to[at++] = DIGITS[byte & 15]!
  }
  at = copy(before, to, at)
  const value = block.values[slot]!
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) at = writeInteger(value, to, at)
  else at += to.write(JSON.stringify(value), at, 'latin1')
  return copy(after, to, at)
}
