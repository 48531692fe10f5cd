import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'

export interface KvClientOptions {
  /** Token: required for writes if the service has an `API_TOKEN`, and for reads if it has a `READ_TOKEN`. */
  readonly token?: string
  /** Maximum number of concurrent connections, without those of watch streams. */
  readonly connections?: number
  /**
   * Maximum time to connect, to wait for a reply, and between two parts of a reply (ms). It is accurate to about 1 s.
   * The parts of a watch stream have another limit: 60 s.
   */
  readonly timeout?: number
  /** Measures the time from each request to the head of its reply. */
  readonly timer?: UpstreamTimer
}

/** A value and its ETag for conditional writes. Every write of the value changes the ETag, even with the same bytes. */
export interface KvValue {
  readonly value: Buffer
  readonly etag: string
}

export interface WriteOptions {
  /** True if the call resolves only once the write survives a power cut. */
  readonly durable?: boolean
  /**
   * Idempotency key of the write, 1 to 255 visible characters. If the same write is sent again with the same key within
   * an hour, it has no second effect and the same result. So a retry after `OUTCOME_UNKNOWN`, or without a reply, is
   * safe.
   */
  readonly idempotencyKey?: string
}

export interface ReadOptions {
  /** True if the read must see every write that any node acknowledged before. */
  readonly linearizable?: boolean
  /**
   * Sequence in the log of a cluster: the read sees all entries up to it, or fails with `SEQUENCE_WAIT_TIMEOUT`.
   */
  readonly after?: number
}

export interface ConditionalOptions extends WriteOptions {
  /** Condition: the key has a value with this ETag; `*` matches any value. */
  readonly ifMatch?: string
  /** Condition: the key has no value. */
  readonly ifNoneMatch?: '*'
}

export interface PutOptions extends ConditionalOptions {
  /** Time after which the value expires (s); without it, the value does not expire. */
  readonly ttl?: number
}

/** Keys of a range: all keys with a prefix, or all keys between two keys. */
export interface KeyBounds {
  /** Cannot be combined with `start` or `end`. */
  readonly prefix?: string
  /** First key; without it, the first of all keys. */
  readonly start?: string
  /** First key after the range; without it, the range extends to the last key. */
  readonly end?: string
}

export interface RangeOptions extends ReadOptions, KeyBounds {
  /** Maximum number of entries. */
  readonly limit?: number
  /** Descending order, from the last key to the first. */
  readonly reverse?: boolean
  /** Continue after this key: `next` of the previous page. */
  readonly cursor?: string
}

export interface KvEntry {
  readonly id: string
  readonly value: Buffer
}

/** A page of a range. */
export interface KvPage {
  readonly entries: readonly KvEntry[]
  /** Cursor of the next page; absent on the last page. */
  readonly next?: string
}

/** Expiry of a value; both fields are null if the value does not expire. */
export interface KvExpiry {
  /** Expiry time (ms since 1970). */
  readonly expiresAt: number | null
  /** Time from the reply to the expiry (ms). */
  readonly remaining: number | null
}

/**
 * A change of a batch. `ttl` sets the time to expiry (s); null removes the expiry. `expire` changes only the expiry,
 * not the value.
 */
export type KvChange =
  | { readonly op: 'put'; readonly id: string; readonly value: string | Uint8Array; readonly ttl?: number }
  | { readonly op: 'delete'; readonly id: string }
  | { readonly op: 'expire'; readonly id: string; readonly ttl: number | null }

export interface WatchOptions extends KeyBounds {
  /** Sequence after which the stream begins; without it, the stream begins with the next change. */
  readonly after?: number
  /** Signal that ends the stream. */
  readonly signal?: AbortSignal
}

/** Changes that took effect together. */
export interface KvChangeSet {
  readonly sequence: number
  /**
   * Changes in their order; empty if the stream only reports its sequence. `expiresAt` is in ms since 1970; without it,
   * the value does not expire.
   */
  readonly changes: readonly (
    | { readonly op: 'put'; readonly id: string; readonly value: Buffer; readonly expiresAt?: number }
    | { readonly op: 'delete'; readonly id: string }
    | { readonly op: 'expire'; readonly id: string; readonly expiresAt?: number }
  )[]
}

/**
 * Client of the service at one address. A read of a key without a value resolves with `undefined`. A refused request
 * rejects with a `ServiceError`.
 */
export interface KvClient {
  /**
   * Highest sequence in the replies; `undefined` before the first one, and if the service is standalone. A read
   * with this sequence as `after` sees all writes of this client, at any node.
   */
  readonly sequence: number | undefined
  get(id: string, options?: ReadOptions): Promise<KvValue | undefined>
  /**
   * Reads the values of many keys from one snapshot, in the order of `ids`: at most 10,000 keys, and 1 MiB of JSON.
   * @throws ServiceError `KEYS_TOO_LARGE`
   */
  getMany(ids: readonly string[], options?: ReadOptions): Promise<(KvValue | undefined)[]>
  /** Resolves with the ETag of the new value. @throws ServiceError `CONDITION_FAILED` */
  put(id: string, value: string | Uint8Array, options?: PutOptions): Promise<string>
  /** Deletes a value; also resolves if the key has no value. @throws ServiceError `CONDITION_FAILED` */
  delete(id: string, options?: ConditionalOptions): Promise<void>
  /** Resolves with the expiry of a value; `undefined` if the key has no value. */
  getExpiry(id: string, options?: ReadOptions): Promise<KvExpiry | undefined>
  /**
   * Sets the time to expiry of a value (s); its ETag does not change. Resolves with false if the key has no value and
   * `ifMatch` is absent.
   * @throws ServiceError `CONDITION_FAILED`
   */
  expire(id: string, ttl: number, options?: ConditionalOptions): Promise<boolean>
  /**
   * Removes the expiry of a value; its ETag does not change. Resolves with false if the key has no value and `ifMatch`
   * is absent.
   * @throws ServiceError `CONDITION_FAILED`
   */
  persist(id: string, options?: ConditionalOptions): Promise<boolean>
  /** Applies all changes, in their order, or none. Sends no request if `changes` is empty. */
  batch(changes: readonly KvChange[], options?: WriteOptions): Promise<void>
  /** Stops all writes of a standalone service, also after a restart, or allows them. */
  setWritesStopped(isStopped: boolean): Promise<void>
  /** Same as `batch`, with the changes as lines of NDJSON. */
  applyBatchLines(lines: string | Uint8Array, options?: WriteOptions): Promise<void>
  /** Yields the entries of a range, from one snapshot, in the byte order of their keys; with `reverse`, in reverse. */
  entries(range?: RangeOptions): AsyncIterable<KvEntry>
  /** Yields the keys of a range, without values. */
  keys(range?: RangeOptions): AsyncIterable<string>
  /** Resolves with the number of entries in a range; at most `limit`. */
  count(range?: RangeOptions): Promise<number>
  /** Reads one page of entries. @param range `limit` is 1 to 1,000, default 100 */
  getPage(range?: RangeOptions): Promise<KvPage>
  /** Resolves with the entries of a range as NDJSON; a line may span several chunks. With `keys`, only the keys. */
  streamEntryLines(range?: RangeOptions & { readonly keys?: boolean }): Promise<AsyncIterable<Buffer>>
  /**
   * Yields the changes of a range as they take effect. Changes that take effect together are one item. Without `after`
   * the first item has no changes, only the sequence at which the stream begins. A copy of the range that is read after
   * this item remains current, because the stream then contains every change. If the connection is lost, the client
   * opens the stream again, after the last sequence.
   * @throws ServiceError `SEQUENCE_EXPIRED` if the service does not have the changes after that sequence: read the
   * range again; ServiceError of any other refusal with a status below 500, except 429
   */
  watch(options?: WatchOptions): AsyncIterable<KvChangeSet>
  /** Ends the streams, and closes the connections once their requests are complete. Idempotent. */
  close(): Promise<void>
}
