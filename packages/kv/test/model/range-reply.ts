import type { HttpReply } from './connection.ts'
import { Difference } from './difference.ts'
import { showValue, type ModelRange } from './operations.ts'

/** Entry of a range reply. A list of keys has no values. Only NDJSON has `expiresAt`. */
export interface ListedEntry {
  readonly key: string
  readonly value?: Buffer
  readonly expiresAt?: number
}

const NEWLINE = 0x0a

/** Returns the lines of an NDJSON body. @throws Difference */
export function splitLines(body: Buffer): string[] {
  const text = body.toString()
  if (!Buffer.from(text).equals(body)) throw new Difference('NDJSON that is not UTF-8')
  if (text !== '' && !text.endsWith('\n')) throw new Difference('NDJSON without a newline at its end')
  // Unicode line ends, at which some line readers split.
  if (/[\u0085\u2028\u2029]/.test(text)) throw new Difference('NDJSON with a line end that is not escaped')
  return text.split('\n').slice(0, -1)
}

/** Returns the value of a line, from text or base64. @throws Difference */
export function readValue(line: { readonly value?: unknown; readonly valueBase64?: unknown }): Buffer {
  const { value, valueBase64 } = line
  if (typeof value === 'string' && valueBase64 === undefined) return Buffer.from(value)
  if (value !== undefined || typeof valueBase64 !== 'string') throw new Difference('a line has not one value')
  return Buffer.from(valueBase64, 'base64')
}

const readTime = (expiresAt: unknown) => (expiresAt === undefined ? {} : { expiresAt: expiresAt as number })

function parseEntry(text: string): ListedEntry {
  const { op, id, value, valueBase64, expiresAt, ...rest } = JSON.parse(text)
  if (op !== 'put' || typeof id !== 'string' || Object.keys(rest).length > 0)
    throw new Difference(`not a line of a range: ${text.slice(0, 200)}`)
  return { key: id, value: readValue({ value, valueBase64 }), ...readTime(expiresAt) }
}

function parseKey(text: string): ListedEntry {
  const { id, expiresAt, ...rest } = JSON.parse(text)
  if (typeof id !== 'string' || Object.keys(rest).length > 0)
    throw new Difference(`not a line of a list of keys: ${text.slice(0, 200)}`)
  return { key: id, ...readTime(expiresAt) }
}

/** Returns the entries of an NDJSON reply. @throws Difference */
export const parseEntries = (body: Buffer): ListedEntry[] => splitLines(body).map(parseEntry)

/** Parses a chunk: a key, a newline and a value. The key may contain a newline, so the known values decide where it ends. */
function parseChunk(chunk: Buffer, valuesOf: (key: string) => readonly Buffer[]): ListedEntry {
  let known: ListedEntry | undefined
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
    const key = chunk.toString('utf8', 0, at)
    const value = chunk.subarray(at + 1)
    const values = valuesOf(key)
    if (values.some((one) => one.equals(value))) return { key, value }
    if (values.length > 0) known ??= { key, value }
  }
  if (!known) throw new Difference(`a chunk with a key that is not there: ${showValue(chunk)}`)
  return known
}

/** Returns the entries that a range listed. @param valuesOf values that a key may have @throws Difference */
export function parseRange(
  { output }: ModelRange,
  reply: HttpReply,
  valuesOf: (key: string) => readonly Buffer[],
): ListedEntry[] {
  if (reply.status !== 200) throw new Difference(`status ${reply.status}, expected 200`)
  if (output === 'chunks') return reply.pieces.map((chunk) => parseChunk(chunk, valuesOf))
  return output === 'keys' ? splitLines(reply.body).map(parseKey) : parseEntries(reply.body)
}

/** Returns the number in the reply to a count. @throws Difference */
export function parseCount({ status, body }: HttpReply): number {
  const { count } = JSON.parse(body.toString()) as { count?: unknown }
  if (status !== 200 || typeof count !== 'number') throw new Difference(`status ${status}, expected a count`)
  return count
}
