import { compareKeys } from './keys.ts'
import { showKey, showValue, type ModelRange } from './operations.ts'
import type { ListedEntry } from './range-reply.ts'
import type { ModelMatch } from './outcome.ts'
import { noteFound, getPresence, type SpaceEntry, type RequestInterval, type KeySpace } from './key-space.ts'

function isIn({ start, end, prefix, cursor, reverse }: ModelRange, key: string): boolean {
  if (cursor !== undefined && compareKeys(key, cursor) * (reverse ? -1 : 1) <= 0) return false
  if (prefix !== undefined) return key.startsWith(prefix)
  return (start === undefined || compareKeys(key, start) >= 0) && (end === undefined || compareKeys(key, end) < 0)
}

/** Returns the keys of a range in its order, without its limit. */
function listKeys(space: KeySpace, range: ModelRange): string[] {
  const keys = space.keys.filter((key) => isIn(range, key))
  return range.reverse ? keys.toReversed() : keys
}

/** Returns the difference between a listed entry and this one; undefined if they match. */
function isMismatch(listed: ListedEntry, { value, expiry }: SpaceEntry, { output }: ModelRange): string | undefined {
  if (output !== 'keys' && !listed.value!.equals(value))
    return `value ${showValue(listed.value!)}, expected ${showValue(value)}`
  if (output === 'chunks') return undefined
  const { expiresAt } = listed
  const isRight =
    expiry === undefined
      ? expiresAt === undefined
      : expiresAt !== undefined && expiresAt >= expiry.earliest && expiresAt <= expiry.latest
  return isRight ? undefined : `expiresAt ${expiresAt}, expected ${JSON.stringify(expiry)}`
}

/** Maximum limit (entries) up to which a header states if more entries follow. */
const MAX_PAGE_ENTRIES = 1_000

/**
 * Returns the reason why `next` is not the cursor of the next page; undefined if it is.
 * @param more true if more entries follow; undefined if unknown
 */
function findWrongNext(
  next: string | undefined,
  last: string | undefined,
  more: boolean | undefined,
): string | undefined {
  if (next === undefined) return more ? 'no cursor, though there are more entries' : undefined
  if (more === false) return `a cursor ${next}, though there are no more entries`
  return decodeURIComponent(next) === last ? undefined : `the cursor ${next} is not the last key`
}

/**
 * Returns the state after a range that listed these entries, or a text with the reason why this state cannot list them. The
 * range may list or omit an entry that may expire within the interval. All other entries must match exactly.
 * @param next the header of this name
 */
export function checkRange(
  space: KeySpace,
  range: ModelRange,
  { listed, next }: { readonly listed: readonly ListedEntry[]; readonly next: string | undefined },
  interval: RequestInterval,
): ModelMatch | string {
  const { limit = Infinity } = range
  const found: (readonly [SpaceEntry, ListedEntry])[] = []
  const absent: string[] = []
  const keys = listKeys(space, range)
  let at = 0
  for (; at < keys.length && found.length < limit; at++) {
    const key = keys[at]!
    const entry = space.entries.get(key)!
    const presence = getPresence(entry, interval)
    const one = listed[found.length]
    if (one?.key === key) {
      if (presence === 'absent') return `${showKey(key)} is listed, but expired`
      const wrong = isMismatch(one, entry, range)
      if (wrong) return `${showKey(key)}: ${wrong}`
      found.push([entry, one])
    } else if (presence === 'present') {
      return `${showKey(key)} is not at ${found.length} of ${listed.length}; ${one ? showKey(one.key) : 'nothing'} is`
    } else absent.push(key)
  }
  const unexpected = listed[found.length]
  if (unexpected) return `${showKey(unexpected.key)} is listed, but is not in the range`
  const rest = new Set(keys.slice(at).map((key) => getPresence(space.entries.get(key)!, interval)))
  const more = rest.has('present') || (rest.has('either') ? undefined : false)
  const wrong = limit <= MAX_PAGE_ENTRIES ? findWrongNext(next, listed.at(-1)?.key, more) : undefined
  if (wrong) return wrong
  function onMatch(): void {
    for (const [entry, { expiresAt }] of found) {
      noteFound(entry, true, interval)
      if (entry.expiry && expiresAt !== undefined) entry.expiry.earliest = entry.expiry.latest = expiresAt
    }
    for (const key of absent) noteFound(space.entries.get(key)!, false, interval)
  }
  return { space: absent.reduce((after, key) => after.with(key, undefined), space), onMatch }
}

/** Returns the reason why a state cannot have `count` entries in a range; undefined if it can. */
export function findWrongCount(
  space: KeySpace,
  range: ModelRange,
  count: number,
  interval: RequestInterval,
): string | undefined {
  const { limit = Infinity } = range
  const presences = listKeys(space, range).map((key) => getPresence(space.entries.get(key)!, interval))
  const min = Math.min(limit, presences.filter((presence) => presence === 'present').length)
  const max = Math.min(limit, presences.filter((presence) => presence !== 'absent').length)
  return count >= min && count <= max ? undefined : `count ${count}, expected ${min} to ${max}`
}
