import { expiryKey, timeOf } from '../core/own-keys.ts'
import { etagOf, type Stored } from '../core/stored.ts'
import type { Level } from './commit.ts'
import type { Expiring } from './expiries.ts'
import { createTextReader } from './level-text.ts'
import type { Found, Store } from './store.ts'

/**
 * Reads values that have not expired. If values may expire, a read needs a second and a third lookup, 2.5 us together. LevelDB
 * has no cheaper way to read two keys at one moment (a snapshot takes 3 us more). Writers change a value and its expiry at one
 * moment, which may fall between the lookups. The order of the lookups makes the result that of one moment:
 *
 *   1. the value: a missing value needs no more lookups. Then the flag for expiry, which is set before the value is written
 *   2. the clock, then the expiry: if that has passed by the clock, the value was absent when the expiry was read
 *   3. the value again: with the same revision it has not changed, so it existed when the clock was read
 *
 * Without the third lookup, a long expired value reappeared for a moment when a PUT replaced it between the first two.
 */
export function createLiveReader(db: Level, expiring: Expiring): Pick<Store, 'find' | 'findTimed' | 'isTimed' | 'now'> {
  const read = createTextReader(db)

  function findLive(key: string, first: Stored | undefined): Found | undefined {
    const own = expiryKey(Buffer.from(key))
    for (let stored = first; stored !== undefined;) {
      const now = expiring.now()
      const bytes = db.getSync(own)
      const expiresAt = bytes && timeOf(bytes)
      if (expiresAt !== undefined && expiring.isPast(expiresAt, now)) return undefined
      const again = read(key)
      if (again !== undefined && etagOf(again) === etagOf(stored)) return { stored, expiresAt }
      stored = again
    }
    return undefined
  }

  return {
    isTimed: () => expiring.isTimed,
    now: () => expiring.now(),
    find(key) {
      const stored = read(key)
      return stored === undefined || !expiring.isTimed ? stored : findLive(key, stored)?.stored
    },
    findTimed: (key) => findLive(key, read(key)),
  }
}
