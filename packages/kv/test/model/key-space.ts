import type { WriteIdentity } from './history.ts'
import { compareKeys } from './keys.ts'

/**
 * Expiry of a value (ms since 1970): not before `earliest` and not after `latest`. The two are equal once a reply has shown
 * the exact time. All states share this object, which holds facts about one write.
 */
export interface ExpiryInterval {
  earliest: number
  latest: number
}

/** Value of a key. */
export interface SpaceEntry {
  readonly value: Buffer
  readonly write: WriteIdentity
  readonly expiry?: ExpiryInterval
}

/** Time at which the server executed a request: not before `sentAt`, not after `receivedAt` (ms since 1970). */
export interface RequestInterval {
  readonly sentAt: number
  readonly receivedAt: number
}

/** Reply to a request with an idempotency key. Each repetition of the request gets it again. */
export interface IdempotencyRecord {
  readonly fingerprint: string
  readonly status: number
  readonly write: WriteIdentity
}

/**
 * Returns the presence of an entry for a reader: exact from the expiry time on, `either` only if the expiry time lies within
 * the interval.
 */
export function getPresence(
  { expiry }: SpaceEntry,
  { sentAt, receivedAt }: RequestInterval,
): 'present' | 'absent' | 'either' {
  if (!expiry || receivedAt < expiry.earliest) return 'present'
  return sentAt >= expiry.latest ? 'absent' : 'either'
}

/** Entries of the keys that one client alone writes. Immutable: a change creates a new space. */
export class KeySpace {
  static readonly EMPTY = new KeySpace(new Map(), new Map())

  readonly entries: ReadonlyMap<string, SpaceEntry>
  readonly records: ReadonlyMap<string, IdempotencyRecord>
  #sorted: readonly string[] | undefined

  constructor(entries: ReadonlyMap<string, SpaceEntry>, records: ReadonlyMap<string, IdempotencyRecord>) {
    this.entries = entries
    this.records = records
  }

  /** Keys in the order of their bytes. */
  get keys(): readonly string[] {
    this.#sorted ??= [...this.entries.keys()].toSorted(compareKeys)
    return this.#sorted
  }

  with(key: string, entry: SpaceEntry | undefined): KeySpace {
    if (entry === undefined && !this.entries.has(key)) return this
    const entries = new Map(this.entries)
    if (entry) entries.set(key, entry)
    else entries.delete(key)
    return new KeySpace(entries, this.records)
  }

  addRecord(idempotencyKey: string, records: IdempotencyRecord): KeySpace {
    return new KeySpace(this.entries, new Map(this.records).set(idempotencyKey, records))
  }
}

/** Narrows the expiry of an entry with the result of a read. */
export function noteFound({ expiry }: SpaceEntry, isFound: boolean, { sentAt, receivedAt }: RequestInterval): void {
  if (!expiry) return
  if (isFound) expiry.earliest = Math.max(expiry.earliest, sentAt + 1)
  else expiry.latest = Math.min(expiry.latest, receivedAt)
}

const after = (ms: number, { sentAt, receivedAt }: RequestInterval): ExpiryInterval => ({
  earliest: sentAt + ms,
  latest: receivedAt + ms,
})

/** Returns the expiry that results from the `ttl` (s) or `expiresAt` (ms since 1970) of a request. */
export function toExpiryInterval(
  { ttl, expiresAt }: { readonly ttl?: number; readonly expiresAt?: number | null },
  interval: RequestInterval,
): { readonly expiry?: ExpiryInterval } {
  if (ttl !== undefined) return { expiry: after(ttl * 1_000, interval) }
  return expiresAt === undefined || expiresAt === null ? {} : { expiry: { earliest: expiresAt, latest: expiresAt } }
}

/** Returns the space with another expiry of one value. */
export const withExpiry = (
  space: KeySpace,
  key: string,
  { value, write }: SpaceEntry,
  expiry: { readonly expiry?: ExpiryInterval },
): KeySpace => space.with(key, { value, write, ...expiry })
