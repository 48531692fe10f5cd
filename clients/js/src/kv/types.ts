import type { CallOptions } from '../core/requester.ts'
import type { components } from '../generated/kv.ts'
import type { KvEntry, KvValue } from './values.ts'

export interface KvReadOptions extends CallOptions {
  /** True: the read sees every write that any node acknowledged before it. */
  readonly linearizable?: boolean | undefined
  /** Sequence in the log of a cluster: the read sees all entries up to it, or fails with `SEQUENCE_WAIT_TIMEOUT`. */
  readonly after?: number | undefined
}

export interface KvWriteOptions extends CallOptions {
  /** True: the call resolves only once the write survives a power cut. */
  readonly durable?: boolean | undefined
  /**
   * Idempotency key of the write, 1 to 255 visible characters. A second write with the same key within an hour has no
   * effect and the same result, so that a retry is safe.
   */
  readonly idempotencyKey?: string | undefined
}

export interface ConditionalOptions extends KvWriteOptions {
  /** Condition: the key has a value with this ETag; `*` matches any value. */
  readonly ifMatch?: string | undefined
  /** Condition: the key has no value. */
  readonly ifNoneMatch?: '*' | undefined
}

export interface KvPutOptions extends ConditionalOptions {
  /** Time after which the value expires (s). Default: it does not expire. */
  readonly ttl?: number | undefined
}

/** Keys of a range: all keys with a prefix, or all keys between two keys. */
export interface KeyBounds {
  /** Cannot be combined with `start` or `end`. */
  readonly prefix?: string | undefined
  /** First key. */
  readonly start?: string | undefined
  /** First key after the range. */
  readonly end?: string | undefined
}

export interface RangeOptions extends KvReadOptions, KeyBounds {
  /** Maximum number of entries. */
  readonly limit?: number | undefined
  /** True: descending order of keys. */
  readonly reverse?: boolean | undefined
  /** Continue after this key: `next` of the previous page. */
  readonly cursor?: string | undefined
}

export interface WatchOptions extends CallOptions, KeyBounds {
  /** Sequence after which the stream begins. Default: it begins with the next change. */
  readonly after?: number | undefined
}

/** A page of a range. */
export interface KvPage {
  readonly entries: readonly KvEntry[]
  /** Cursor of the next page; absent on the last page. */
  readonly next?: string
}

/** Expiry time (ms since 1970) and remaining time (ms); both are null for a value that does not expire. */
export type KvExpiry = components['schemas']['Expiry']

/** A change of a batch. `ttl` is the time to expiry (s); `expire` with null removes the expiry. */
export type KvChange =
  | {
      readonly op: 'put'
      readonly id: string
      readonly value: string | Uint8Array
      readonly ttl?: number | undefined
      /** Expiry time (ms since 1970), instead of `ttl`. */
      readonly expiresAt?: number | undefined
    }
  | { readonly op: 'delete'; readonly id: string }
  | { readonly op: 'expire'; readonly id: string; readonly ttl: number | null }

/** A change that took effect. */
export type WatchedChange =
  | ({ readonly op: 'put' } & KvEntry)
  | { readonly op: 'delete'; readonly id: string }
  /** The expiry of a value changed. Without `expiresAt` (ms since 1970) the value no longer expires. */
  | { readonly op: 'expire'; readonly id: string; readonly expiresAt?: number | undefined }

/** Changes that took effect together. */
export interface KvChangeSet {
  readonly sequence: number
  /** In their order; empty if the stream only reports its sequence. */
  readonly changes: readonly WatchedChange[]
}

/**
 * Client of the service `kv`. A read of a key without a value resolves with `undefined`. A refused request rejects with
 * a `ServiceError`.
 */
export interface KvClient {
  /**
   * Highest sequence in the replies; `undefined` before the first one, and if the service is standalone. A read with
   * this sequence as `after` sees all writes of this client, at any node.
   */
  readonly sequence: number | undefined
  get(id: string, options?: KvReadOptions): Promise<KvValue | undefined>
  /** Reads up to 10,000 keys from one snapshot, in the order of `ids`. */
  getMany(ids: readonly string[], options?: KvReadOptions): Promise<readonly (KvValue | undefined)[]>
  /** Resolves with the ETag of the new value. @throws ServiceError `CONDITION_FAILED` */
  put(id: string, value: string | Uint8Array, options?: KvPutOptions): Promise<string>
  /** Deletes a value; also resolves if the key has no value. @throws ServiceError `CONDITION_FAILED` */
  delete(id: string, options?: ConditionalOptions): Promise<void>
  getExpiry(id: string, options?: KvReadOptions): Promise<KvExpiry | undefined>
  /** Sets the time to expiry (s); the ETag does not change. Resolves with false if the key has no value. */
  expire(id: string, ttl: number, options?: ConditionalOptions): Promise<boolean>
  /** Removes the expiry; the ETag does not change. Resolves with false if the key has no value. */
  persist(id: string, options?: ConditionalOptions): Promise<boolean>
  /** Applies all changes, in their order, or none. Resolves with their number. */
  batch(changes: readonly KvChange[], options?: KvWriteOptions): Promise<number>
  /** Yields the entries of a range, from one snapshot, in the byte order of their keys. */
  entries(range?: RangeOptions): AsyncIterableIterator<KvEntry>
  /** Yields the keys of a range. */
  keys(range?: RangeOptions): AsyncIterableIterator<string>
  /** Resolves with the number of entries in a range. */
  count(range?: RangeOptions): Promise<number>
  /** Reads one page. @param range `limit` is 1 to 1,000, by default 100 */
  getPage(range?: RangeOptions): Promise<KvPage>
  /**
   * Yields the changes of a range as they take effect; those that take effect together are one item. Without `after`
   * the first item has no changes, only the sequence at which the stream begins. A lost stream is opened again after
   * the last sequence. Ends when `signal` is aborted.
   * @throws ServiceError `SEQUENCE_EXPIRED` if the service no longer has the changes after that sequence: read the range
   * again; ServiceError of any other permanent refusal
   */
  watch(options?: WatchOptions): AsyncIterableIterator<KvChangeSet>
}
