import { formatAmount, type Amount } from './values/amount.ts'
import type { AnswerWords } from './answer-words.ts'

// A value that is not the usual form of a double has the 8 bytes of a NaN, whose unused bits hold either a decimal such as
// 9.90 (sign, number of decimals, and its digits as an integer), or the number of a text of the answer words.

/** The upper 32 bits of a NaN. */
const NAN_BITS = 0x7ff8_0000
const NEGATIVE = 0x8000_0000
const TEXT = 0x0004_0000
const SCALE_SHIFT = 14
const MAX_SCALE = 15
const HIGH_MASK = (1 << SCALE_SHIFT) - 1
const WORD = 2 ** 32
const MAX_COEFFICIENT = (HIGH_MASK + 1) * WORD - 1
const DECIMAL_PATTERN = /^(-?)(\d+)\.(\d+)$/

/** Writes a value that `Amount` has as a text. */
export function writeBoxed(view: DataView, at: number, value: Amount, words: AnswerWords): void {
  const text = formatAmount(value)
  const [, sign, whole, fraction = ''] = DECIMAL_PATTERN.exec(text) ?? []
  const coefficient = Number(`${whole}${fraction}`)
  const isPacked = fraction !== '' && fraction.length <= MAX_SCALE && coefficient <= MAX_COEFFICIENT
  const low = isPacked ? coefficient % WORD : words.ensure({ text })
  const high = isPacked ? (fraction.length << SCALE_SHIFT) | Math.floor(coefficient / WORD) : TEXT
  view.setUint32(at, low, true)
  view.setUint32(at + 4, ((sign === '-' && isPacked ? NEGATIVE : 0) | NAN_BITS | high) >>> 0, true)
}

/** Returns the number of the word that a value has; undefined if it has none. */
export const findBoxedText = (view: DataView, at: number): number | undefined =>
  view.getUint32(at + 4, true) & TEXT ? view.getUint32(at, true) : undefined

/** Returns a value that `writeBoxed` wrote. */
export function readBoxed(view: DataView, at: number, words: AnswerWords): Amount {
  const low = view.getUint32(at, true)
  const high = view.getUint32(at + 4, true)
  if (high & TEXT) return words.getText(low)
  const scale = (high >>> SCALE_SHIFT) & MAX_SCALE
  const digits = String((high & HIGH_MASK) * WORD + low).padStart(scale + 1, '0')
  return `${high & NEGATIVE ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
