import { randomInt } from 'node:crypto'

/** A value, as a string (if it is UTF-8) or as bytes. The reader chooses the faster form. */
export type KvValueBytes = string | Buffer

/** A stored value: the revision of its write as text, followed by the value. */
export type StoredValue = KvValueBytes

/**
 * Length of a revision as text (characters): 48 bits in base64url. Each character is one byte of UTF-8, so a stored
 * text value can be read as text.
 */
export const REVISION_LENGTH = 8

const BASE64URL_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
// Two digits at a time: a number becomes text in 50 ns.
const DIGIT_PAIRS = Array.from({ length: 4_096 }, (_, i) => BASE64URL_DIGITS[i >> 6]! + BASE64URL_DIGITS[i & 63]!)

/** Returns a revision as text. @param number revision, less than 2^48 */
export function toRevision(number: number): string {
  const high = Math.floor(number / 0x1000000)
  const low = number % 0x1000000
  return DIGIT_PAIRS[high >> 12]! + DIGIT_PAIRS[high & 4_095]! + DIGIT_PAIRS[low >> 12]! + DIGIT_PAIRS[low & 4_095]!
}

/**
 * Number of possible first revisions: half of all numbers, so that no history reaches 2^48. A history is the sequence
 * of revisions of one database; a restored or copied database begins a new one.
 */
const START_COUNT = 2 ** 47
/**
 * Minimum distance of a new history from the previous one (revisions): 9 years of 60,000 writes per second. During
 * this time, the original of a copied folder and its copy have no common revision.
 */
const HISTORY_REVISIONS = 2 ** 44

/**
 * Returns the number before the first revision of a new history. It is random, so an ETag of a database does not match
 * in another database that replaces it.
 * @param last last revision of the previous history, which the original of a copied folder may have continued. The new
 * history begins at least 2^44 numbers before or after it
 */
export function createFirstRevision(last?: number): number {
  if (last === undefined) return randomInt(START_COUNT)
  return (last + HISTORY_REVISIONS + randomInt(START_COUNT - 2 * HISTORY_REVISIONS)) % START_COUNT
}

/** Returns the stored form of a value. */
export function toStored(revision: string, value: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(REVISION_LENGTH + value.length)
  bytes.write(revision, 0, REVISION_LENGTH, 'latin1')
  bytes.set(value, REVISION_LENGTH)
  return bytes
}

/** Returns the ETag of a stored value. */
export function getEtag(stored: StoredValue): string {
  return toEtag(
    typeof stored === 'string' ? stored.slice(0, REVISION_LENGTH) : stored.toString('latin1', 0, REVISION_LENGTH),
  )
}

/** Returns the ETag of a revision. */
export const toEtag = (revision: string): string => `"${revision}"`

/** Returns the value without its revision. Bytes share the memory of the stored value. */
export function getValue(stored: StoredValue): KvValueBytes {
  return typeof stored === 'string' ? stored.slice(REVISION_LENGTH) : stored.subarray(REVISION_LENGTH)
}
