import type { HttpReply } from './connection.ts'
import { Difference } from './difference.ts'
import type { WriteIdentity } from './history.ts'
import { showKey, showValue, type ModelGetMany } from './operations.ts'
import type { ModelMatch } from './outcome.ts'
import { splitLines, readValue } from './range-reply.ts'
import { noteFound, getPresence, type SpaceEntry, type RequestInterval, type KeySpace } from './key-space.ts'

/** Line of a reply for one key. `found` is undefined if the key has no value. */
export interface FoundKey {
  readonly key: string
  readonly found?: { readonly value: Buffer; readonly etag: string; readonly expiresAt?: number }
}

function parseLine(text: string): FoundKey {
  const { id, found, etag, value, valueBase64, expiresAt, ...rest } = JSON.parse(text)
  if (typeof id !== 'string' || typeof found !== 'boolean' || Object.keys(rest).length > 0)
    throw new Difference(`not a line for a key: ${text.slice(0, 200)}`)
  if (found) return { key: id, found: { value: readValue({ value, valueBase64 }), etag, expiresAt } }
  if (etag !== undefined || value !== undefined) throw new Difference('a value under a key that is not found')
  return { key: id }
}

/** @throws Difference */
export function parseGetMany({ status, body }: HttpReply): FoundKey[] {
  if (status !== 200) throw new Difference(`status ${status}, expected 200`)
  return splitLines(body).map(parseLine)
}

function isMismatch(
  { value, expiry, write }: SpaceEntry,
  { value: found, etag, expiresAt }: NonNullable<FoundKey['found']>,
) {
  if (!found.equals(value)) return `value ${showValue(found)}, expected ${showValue(value)}`
  if (write.etag !== undefined && write.etag !== etag) return `ETag ${etag}, expected ${write.etag}`
  const isRight = expiry
    ? expiresAt !== undefined && expiresAt >= expiry.earliest && expiresAt <= expiry.latest
    : expiresAt === undefined
  return isRight ? undefined : `expiresAt ${expiresAt}, expected ${JSON.stringify(expiry)}`
}

/** Returns the state after the reply and the ETags in it, or a text with the reason why this state cannot produce it. */
export function checkGetMany(
  before: KeySpace,
  { ids }: ModelGetMany,
  lines: readonly FoundKey[],
  interval: RequestInterval,
): (ModelMatch & { readonly etags: readonly (readonly [WriteIdentity, string])[] }) | string {
  if (lines.length !== ids.length) return `${lines.length} lines, expected ${ids.length}`
  let space = before
  const etags: (readonly [WriteIdentity, string])[] = []
  for (const [i, id] of ids.entries()) {
    const { key, found } = lines[i]!
    if (key !== id) return `line ${i} has ${showKey(key)}, expected ${showKey(id)}`
    // A key that the request names twice is the same both times.
    const entry = space.entries.get(id)
    const presence = entry ? getPresence(entry, interval) : 'absent'
    if (!found) {
      if (presence === 'present') return `${showKey(id)} is not found`
      space = space.with(id, undefined)
    } else if (!entry || presence === 'absent') return `${showKey(id)} is found`
    else {
      const wrong = isMismatch(entry, found)
      if (wrong) return `${showKey(id)}: ${wrong}`
      etags.push([entry.write, found.etag])
    }
  }
  function onMatch(): void {
    for (const [i, id] of ids.entries()) {
      const entry = before.entries.get(id)
      if (entry) noteFound(entry, lines[i]!.found !== undefined, interval)
    }
  }
  return { space, etags, onMatch }
}
