import type { WriteIdentity } from './history.ts'
import { compareKeys } from './keys.ts'

/**
 * Expiry of a value (ms since 1970): not before `earliest` and not after `latest`. The two are equal once a reply has shown
 * the exact time. All states share this object, which holds facts about one write.
 */
export interface Expiry {
  earliest: number
  latest: number
}

/** Value of a key. */
export interface Entry {
  readonly value: Buffer
  readonly write: WriteIdentity
  readonly expiry?: Expiry
}

/** Time at which the server executed a request: not before `sentAt`, not after `receivedAt` (ms since 1970). */
export interface Interval {
  readonly sentAt: number
  readonly receivedAt: number
}

/** Reply to a request with an idempotency key. Each repetition of the request gets it again. */
export interface Remembered {
  readonly fingerprint: string
  readonly status: number
  readonly write: WriteIdentity
}

/**
 * Returns the presence of an entry for a reader: exact from the expiry time on, `either` only if the expiry time lies within
 * the interval.
 */
export function presenceOf({ expiry }: Entry, { sentAt, receivedAt }: Interval): 'present' | 'absent' | 'either' {
  if (!expiry || receivedAt < expiry.earliest) return 'present'
  return sentAt >= expiry.latest ? 'absent' : 'either'
}

/** Entries of the keys that one client alone writes. Immutable: a change creates a new space. */
export class Space {
  static readonly EMPTY = new Space(new Map(), new Map())

  readonly entries: ReadonlyMap<string, Entry>
  readonly remembered: ReadonlyMap<string, Remembered>
  #sorted: readonly string[] | undefined

  constructor(entries: ReadonlyMap<string, Entry>, remembered: ReadonlyMap<string, Remembered>) {
    this.entries = entries
    this.remembered = remembered
  }

  /** Keys in the order of their bytes. */
  get keys(): readonly string[] {
    this.#sorted ??= [...this.entries.keys()].toSorted(compareKeys)
    return this.#sorted
  }

  with(key: string, entry: Entry | undefined): Space {
    if (entry === undefined && !this.entries.has(key)) return this
    const entries = new Map(this.entries)
    if (entry) entries.set(key, entry)
    else entries.delete(key)
    return new Space(entries, this.remembered)
  }

  remember(idempotencyKey: string, remembered: Remembered): Space {
    return new Space(this.entries, new Map(this.remembered).set(idempotencyKey, remembered))
  }
}

/** Narrows the expiry of an entry with the result of a read. */
export function noteFound({ expiry }: Entry, isFound: boolean, { sentAt, receivedAt }: Interval): void {
  if (!expiry) return
  if (isFound) expiry.earliest = Math.max(expiry.earliest, sentAt + 1)
  else expiry.latest = Math.min(expiry.latest, receivedAt)
}

const after = (ms: number, { sentAt, receivedAt }: Interval): Expiry => ({
  earliest: sentAt + ms,
  latest: receivedAt + ms,
})

/** Returns the expiry that results from the `ttl` (s) or `expiresAt` (ms since 1970) of a request. */
export function expiryOf(
  { ttl, expiresAt }: { readonly ttl?: number; readonly expiresAt?: number | null },
  interval: Interval,
): { readonly expiry?: Expiry } {
  if (ttl !== undefined) return { expiry: after(ttl * 1_000, interval) }
  return expiresAt === undefined || expiresAt === null ? {} : { expiry: { earliest: expiresAt, latest: expiresAt } }
}

/** Returns the space with another expiry of one value. */
export const withExpiry = (
  space: Space,
  key: string,
  { value, write }: Entry,
  expiry: { readonly expiry?: Expiry },
): Space => space.with(key, { value, write, ...expiry })
