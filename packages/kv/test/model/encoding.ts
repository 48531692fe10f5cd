import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'

const HEX_DIGITS = '0123456789abcdef'

function escape(byte: number, random: SeededRandom): string {
  const digits = HEX_DIGITS[byte >> 4]! + HEX_DIGITS[byte & 15]!
  return `%${random.percent(50) ? digits : digits.toUpperCase()}`
}

const isPlain = (byte: number) => /[\w.~-]/.test(String.fromCharCode(byte))

/** Encodes a query string value. Sometimes it also escapes plain characters. Hex digits have either case. */
export function encodeQueryValue(text: string, random: SeededRandom): string {
  const escapesAll = random.percent(10)
  let encoded = ''
  for (const byte of Buffer.from(text)) {
    if (byte === 0x20 && random.percent(50)) encoded += '+'
    else encoded += !escapesAll && byte < 0x80 && isPlain(byte) ? String.fromCharCode(byte) : escape(byte, random)
  }
  return encoded
}
