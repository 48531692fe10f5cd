import { formatAmount } from '../core/values/amount.ts'
import { ID_BYTES, type AnswerBlock } from '../core/answer-block.ts'
import type { AnswerWord, AnswerWords } from '../core/answer-words.ts'
import { Literal } from '../core/bytes/literal.ts'
import { formatId, isTextId } from '../core/price-id.ts'

const ANSWER_PREFIX = new Literal('{"id":"')
const DASH = 45
const MINUS = 45
const ZERO = 48
const MAX_INT32 = 0x7fff_ffff

/** Returns two ASCII characters as a little-endian number. */
const toPair = (text: string) => text.charCodeAt(0) | (text.charCodeAt(1) << 8)
const HEX_OF_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => toPair(byte.toString(16).padStart(2, '0')))
const DIGITS_OF_HUNDRED = Uint16Array.from({ length: 100 }, (_, number) => toPair(String(number).padStart(2, '0')))

/** Memory for text output, and a view of it for writes by word. */
export interface OutputBuffer {
  readonly bytes: Buffer
  readonly view: DataView
  /** Number of bytes written. The next write begins here. */
  filled: number
}

export function createOutputBuffer(size: number): OutputBuffer {
  const bytes = Buffer.allocUnsafeSlow(size)
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, size), filled: 0 }
}

/** The text of an answer kind before and after the value; both are empty for any other word. */
export interface WordText {
  readonly before: Literal
  readonly after: Literal
}

const NO_TEXT: WordText = { before: new Literal(''), after: new Literal('') }

export function toWordText(word: AnswerWord): WordText {
  if ('text' in word) return NO_TEXT
  return {
    before: new Literal(`","spec":${JSON.stringify(word.spec)},"value":`),
    after: new Literal(`,"currency":${JSON.stringify(word.currency)}}`),
  }
}

function writeHex(ids: Uint8Array, first: number, end: number, view: DataView, start: number): number {
  let at = start
  for (let i = first; i < end; i++, at += 2) view.setUint16(at, HEX_OF_BYTE[ids[i]!]!, true)
  return at
}

function writeUuid(ids: Uint8Array, first: number, view: DataView, start: number): number {
  let at = writeHex(ids, first, first + 4, view, start)
  view.setUint8(at, DASH)
  at = writeHex(ids, first + 4, first + 6, view, at + 1)
  view.setUint8(at, DASH)
  at = writeHex(ids, first + 6, first + 8, view, at + 1)
  view.setUint8(at, DASH)
  at = writeHex(ids, first + 8, first + 10, view, at + 1)
  view.setUint8(at, DASH)
  return writeHex(ids, first + 10, first + ID_BYTES, view, at + 1)
}

function countDigits(value: number): number {
  let digits = 1
  for (let limit = 10; digits < 10 && value >= limit; limit *= 10) digits++
  return digits
}

/** Writes a 32-bit integer. */
function writeInteger(value: number, view: DataView, start: number): number {
  let first = start
  if (value < 0) view.setUint8(first++, MINUS)
  let rest = Math.abs(value) | 0
  const end = first + countDigits(rest)
  let at = end
  while (rest >= 10) {
    const hundreds = (rest / 100) | 0
    at -= 2
    view.setUint16(at, DIGITS_OF_HUNDRED[rest - hundreds * 100]!, true)
    rest = hundreds
  }
  if (at > first) view.setUint8(first, ZERO + rest)
  return end
}

/**
 * Writes the answer of a row, `{"id","spec","value","currency"}`.
 * @returns the end of the answer in the buffer
 */
export function writeAnswer(
  block: AnswerBlock,
  slot: number,
  { before, after }: WordText,
  words: AnswerWords,
  { bytes, view }: OutputBuffer,
  start: number,
): number {
  let at = ANSWER_PREFIX.write(view, start)
  const idStart = block.getIdStart(slot)
  if (block.bytes[idStart + ID_BYTES - 1] === 0xff && isTextId(block.getId(slot)))
    at += bytes.write(JSON.stringify(formatId(block.getId(slot), words)).slice(1, -1), at)
  else at = writeUuid(block.bytes, idStart, view, at)
  at = before.write(view, at)
  const value = block.getDouble(slot)
  if (Math.abs(value) <= MAX_INT32 && Number.isInteger(value) && !Object.is(value, -0))
    at = writeInteger(value, view, at)
  else at += bytes.write(formatAmount(block.getAmount(slot, words)), at, 'latin1')
  return after.write(view, at)
}
