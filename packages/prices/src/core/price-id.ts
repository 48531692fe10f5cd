import type { AnswerWords } from './answer-words.ts'
import { formatUuid, isUuid, parseUuid, UUID_BYTES } from './values/uuid.ts'

/** Maximum length of the id of a price (bytes of UTF-8). */
export const MAX_ID_BYTES = 128

// An id that is not a UUID is a text of the answer words: its number in four bytes, then twelve bytes of 0xff.
const MARK = 0xff
const MARK_START = 4
const MARKED_UUID = /f{4}-f{4}-f{4}-f{12}$/

/** True if these are the bytes of an id that is not stored as a UUID. */
export function isTextId(id: Uint8Array): boolean {
  for (let i = MARK_START; i < UUID_BYTES; i++) if (id[i] !== MARK) return false
  return true
}

/** Returns an id in the form in which clients read it: a UUID in lower case, any other text unchanged. */
export const normalizeId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id)

/** Returns the bytes of an id; undefined if no price can have it, because its text is not among the words. */
export function findId(id: string, words: AnswerWords): Uint8Array | undefined {
  const packed = packUuid(id)
  if (packed) return packed
  const code = words.findText(normalizeId(id))
  return code < 0 ? undefined : toTextId(code)
}

/** Returns the bytes of an id. The text of an id that is not a UUID is added to the words. */
export const ensureId = (id: string, words: AnswerWords): Uint8Array =>
  packUuid(id) ?? toTextId(words.ensure({ text: normalizeId(id) }))

/** Returns the text of an id. */
export const formatId = (id: Uint8Array, words: AnswerWords): string =>
  isTextId(id) ? words.getText(getTextOfId(id)) : formatUuid(id)

/** Returns an id with the numbers of other words; undefined if its text is not among them. */
export const findTranslatedId = (id: Uint8Array, from: AnswerWords, to: AnswerWords): Uint8Array | undefined =>
  isTextId(id) ? findId(from.getText(getTextOfId(id)), to) : id

/** Returns an id with the numbers of other words, to which its text is added. */
export const translateId = (id: Uint8Array, from: AnswerWords, to: AnswerWords): Uint8Array =>
  isTextId(id) ? toTextId(to.ensure({ text: from.getText(getTextOfId(id)) })) : id

/** Returns the bytes of a UUID; undefined for other texts, and for the UUIDs whose bytes look like another id. */
export const packUuid = (id: string): Uint8Array | undefined =>
  isUuid(id) && !MARKED_UUID.test(id.toLowerCase()) ? parseUuid(id) : undefined

function toTextId(code: number): Uint8Array {
  const id = new Uint8Array(UUID_BYTES).fill(MARK)
  new DataView(id.buffer).setUint32(0, code)
  return id
}

/** Returns the number of the text of an id that is not stored as a UUID. */
export const getTextOfId = ({ buffer, byteOffset }: Uint8Array): number => new DataView(buffer, byteOffset).getUint32(0)

/** Orders texts by their bytes in UTF-8. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (one === other) continue
    // UTF-8 orders by code point: characters of two code units come after all others.
    return rankUnit(one) - rankUnit(other)
  }
  return a.length - b.length
}

const rankUnit = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit)
