import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'

/** Maximum key size (bytes). */
export const MAX_KEY_BYTES = 1_024

// Buffer sizes (bytes) of the server, of LevelDB's binding and of V8.
const EDGE_LENGTHS = [1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 255, 256, 384, 512, 768, 1_023, 1_024]

const CHARACTERS = [
  ['a', 'z', '0', '~', ' ', '%', '+', '&', '=', '/', '?', '#', '"', '\\', '\n', '\r', '\t', '\0', '\u007f'],
  ['é', 'ß', '\u0080', '\u0085', '\u07ff', 'я'],
  ['日', '\u0800', '\u2028', '\u2029', '\uffff', '\ufffd', '\ufeff', '\ud7ff', '\ue000', '€'],
  ['😀', '\u{10000}', '\u{10ffff}', '𝒳'],
] as const

const getByteLength = (text: string) => Buffer.byteLength(text)

/** Pads with one-byte characters at the start or the end, so that multi-byte characters are cut at every offset. */
function pad(text: string, bytes: number, isSuffix: boolean): string {
  const padding = 'x'.repeat(bytes - getByteLength(text))
  return isSuffix ? text + padding : padding + text
}

function generateLength(random: SeededRandom): number {
  if (random.percent(35)) return random.between(1, 40)
  if (random.percent(70)) return Math.min(MAX_KEY_BYTES, Math.max(1, random.pick(EDGE_LENGTHS) + random.between(-3, 3)))
  return random.between(1, MAX_KEY_BYTES)
}

/** Returns a text of exactly `bytes` bytes of UTF-8. */
function generateText(random: SeededRandom, bytes: number): string {
  const one = random.pick(random.pick(CHARACTERS))
  if (random.percent(60)) return pad(one.repeat(Math.floor(bytes / getByteLength(one))), bytes, random.percent(70))
  let text = ''
  for (let left = bytes; left > 0; left = bytes - getByteLength(text)) {
    text += random.pick(CHARACTERS[random.below(Math.min(left, CHARACTERS.length))]!)
  }
  return text
}

/** Returns a key of 1 to 1,024 bytes that begins with `prefix`. */
export function generateKey(random: SeededRandom, prefix: string): string {
  const rest = generateLength(random) - getByteLength(prefix)
  return rest <= 0 ? prefix : prefix + generateText(random, rest)
}

/** Returns keys that are prefixes of each other: one repeated character, with lengths around one edge. */
function generateKeyFamily(random: SeededRandom, prefix: string): string[] {
  const one = random.pick(random.pick(CHARACTERS))
  const maxCount = Math.floor((MAX_KEY_BYTES - getByteLength(prefix)) / getByteLength(one))
  const near = Math.min(maxCount, Math.floor(random.pick(EDGE_LENGTHS) / getByteLength(one)))
  return [-9, -2, -1, 0, 1, 2, 8].flatMap((by) => {
    const count = near + by
    return count < 0 || count > maxCount ? [] : [prefix + one.repeat(count)]
  })
}

/** Returns the keys that one client uses, including some key families. */
export function generateKeyPool(random: SeededRandom, prefix: string, size: number): string[] {
  const keys = new Set<string>()
  for (let family = 0; family < 3; family++) for (const key of generateKeyFamily(random, prefix)) keys.add(key)
  while (keys.size < size) keys.add(generateKey(random, prefix))
  return [...keys]
}

/** Returns a key with the last character removed or one character added. */
export function generateNeighbor(random: SeededRandom, key: string, prefix: string): string {
  const characters = [...key]
  if (random.percent(50) && key !== prefix) return characters.slice(0, -1).join('') || prefix
  const longer = key + random.pick(random.pick(CHARACTERS))
  return getByteLength(longer) <= MAX_KEY_BYTES ? longer : key
}

/** Compares keys by their bytes. This order differs from that of JavaScript's strings. */
export const compareKeys = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))
