import { pause } from '@influencer-stats/runtime/async/retry'
import { ServiceError, toServiceError } from '@influencer-stats/runtime/service-error'
import { getTraceHeaders } from '@influencer-stats/runtime/trace'
import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import { Agent, request, type Dispatcher } from 'undici'
import { readLines } from './lines/read-lines.ts'
import { toOpLine, parseLine, type Op } from './core/change-lines.ts'
import { parseWatchEvents } from './lines/watch-events.ts'

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
   * range again; ServiceError of any other refusal with a status below 500
   */
  watch(options?: WatchOptions): AsyncIterable<KvChangeSet>
  /** Ends the streams, and closes the connections once their requests are complete. Idempotent. */
  close(): Promise<void>
}

const NDJSON = 'application/x-ndjson'
const EXPIRY_PATH = '/v0/entity/expiry'
// Size of a page (entries).
const MAX_PAGE_ENTRIES = 1_000
const DEFAULT_PAGE_ENTRIES = 100
/** Delay before the client opens a stream again, if the last stream delivered no change (ms). */
const RETRY_DELAY_MS = 1_000
/** Time without a byte after which the client considers a stream lost (ms): four heartbeats by default. */
const STREAM_TIMEOUT_MS = 60_000
const NEVER_SIGNAL = new AbortController().signal

/** Creates a client of the service at `url`. */
export function createKvClient(
  url: string,
  { token, connections = 64, timeout, timer: startTimer }: KvClientOptions = {},
): KvClient {
  const dispatcher = new Agent({
    connections,
    ...(timeout && { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } }),
  })
  // Streams remain open, so they must not use the connections of other requests.
  const streams = new Agent({
    bodyTimeout: STREAM_TIMEOUT_MS,
    ...(timeout && { headersTimeout: timeout, connect: { timeout } }),
  })
  let sequence: number | undefined
  const authorization = token ? { authorization: `Bearer ${token}` } : {}

  async function sendRequest(
    method: Dispatcher.HttpMethod,
    path: string,
    query: Record<string, string | undefined>,
    headers: Record<string, string | undefined> = {},
    body?: string | Uint8Array,
    stream?: { readonly signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    const target = new URL(path, url)
    for (const [name, value] of Object.entries(query)) if (value !== undefined) target.searchParams.set(name, value)
    const sentHeaders = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    const call = startTimer?.('kv')
    const pending = request(target, {
      method,
      dispatcher: stream ? streams : dispatcher,
      signal: stream?.signal,
      headers: { ...authorization, ...(call?.headers ?? getTraceHeaders()), ...sentHeaders },
      body,
    })
    const reply = await pending.catch((error) => {
      call?.end('broken')
      throw error
    })
    call?.end(reply.statusCode)
    if (reply.headers.sequence !== undefined) sequence = Math.max(sequence ?? 0, Number(reply.headers.sequence))
    if (reply.statusCode < 300) return reply
    const text = await reply.body.text()
    throw toServiceError(reply.statusCode, text)
  }

  const toDurableQuery = ({ durable }: WriteOptions) => ({ durable: durable ? 'true' : undefined })
  const toIdempotencyHeader = ({ idempotencyKey: key }: WriteOptions) => ({
    'idempotency-key': key === undefined ? key : `"${key}"`,
  })
  const toConditionHeaders = ({ ifMatch, ifNoneMatch, ...options }: ConditionalOptions) => ({
    'if-match': ifMatch,
    'if-none-match': ifNoneMatch,
    ...toIdempotencyHeader(options),
  })

  const toConsistencyQuery = ({ linearizable, after }: ReadOptions) => ({
    linearizable: linearizable ? 'true' : undefined,
    after: after?.toString(),
  })

  const toRangeQuery = ({ prefix, start, end, limit, reverse, cursor, ...readOptions }: RangeOptions) => ({
    prefix,
    start,
    end,
    cursor,
    limit: limit?.toString(),
    reverse: reverse ? 'true' : undefined,
    ...toConsistencyQuery(readOptions),
  })

  function requestRange(
    range: RangeOptions,
    extraQuery: { keys?: string; count?: string },
  ): Promise<Dispatcher.ResponseData> {
    return sendRequest('GET', '/v0/entities', { ...toRangeQuery(range), ...extraQuery }, { accept: NDJSON })
  }

  async function streamEntryLines({ keys, ...range }: RangeOptions & { keys?: boolean } = {}): Promise<
    AsyncIterable<Buffer>
  > {
    return (await requestRange(range, { keys: keys ? 'true' : undefined })).body
  }

  async function applyBatchLines(lines: string | Uint8Array, options: WriteOptions = {}): Promise<void> {
    const { body } = await sendRequest(
      'POST',
      '/v0/batch',
      toDurableQuery(options),
      { 'content-type': NDJSON, ...toIdempotencyHeader(options) },
      lines,
    )
    await body.dump()
  }

  async function* watch({ prefix, start, end, after, signal = NEVER_SIGNAL }: WatchOptions = {}): AsyncGenerator<
    KvChangeSet,
    void
  > {
    let cursor = after
    while (!signal.aborted && !closed) {
      let hasChanges = false
      try {
        const query = { prefix, start, end, after: cursor?.toString() }
        const { body } = await sendRequest('GET', '/v0/watch', query, {}, undefined, { signal })
        for await (const { seq, ops } of parseWatchEvents(body)) {
          cursor = seq
          hasChanges ||= ops.length > 0
          yield { sequence: seq, changes: ops.map(toChange) }
        }
      } catch (error) {
        // The client retries if the stream was lost, or if the service is busy or unavailable. It throws any other
        // error.
        if (error instanceof TypeError || (error instanceof ServiceError && error.status < 500)) throw error
      }
      // A stream that delivered changes is opened again at once.
      if (!hasChanges && !closed) await pause(RETRY_DELAY_MS, signal)
    }
  }

  /** Same as `sendRequest`, but resolves with `undefined` if the key has no value. */
  async function requestFound(
    ...request: Parameters<typeof sendRequest>
  ): Promise<Dispatcher.ResponseData | undefined> {
    try {
      return await sendRequest(...request)
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'ENTITY_NOT_FOUND') return undefined
      throw error
    }
  }

  async function changeExpiry(
    method: 'PUT' | 'DELETE',
    query: Record<string, string>,
    options: ConditionalOptions,
  ): Promise<boolean> {
    const reply = await requestFound(
      method,
      EXPIRY_PATH,
      { ...query, ...toDurableQuery(options) },
      toConditionHeaders(options),
    )
    await reply?.body.dump()
    return reply !== undefined
  }

  let closed: Promise<unknown> | undefined
  return {
    get sequence() {
      return sequence
    },
    async get(id, options = {}) {
      const reply = await requestFound('GET', '/v0/entity', { id, ...toConsistencyQuery(options) })
      return reply && { value: Buffer.from(await reply.body.arrayBuffer()), etag: String(reply.headers.etag) }
    },
    async getMany(ids, options = {}) {
      if (ids.length === 0) return []
      const list = JSON.stringify({ ids })
      const headers = { 'content-type': 'application/json' }
      const { body } = await sendRequest('POST', '/v0/entities/get', toConsistencyQuery(options), headers, list)
      return Array.fromAsync(readLines(body), toFound)
    },
    async put(id, value, options = {}) {
      const headers = { 'content-type': 'application/octet-stream', ...toConditionHeaders(options) }
      const query = { id, ...toDurableQuery(options), ttl: options.ttl?.toString() }
      const reply = await sendRequest('PUT', '/v0/entity', query, headers, value)
      await reply.body.dump()
      return String(reply.headers.etag)
    },
    async delete(id, options = {}) {
      const { body } = await sendRequest(
        'DELETE',
        '/v0/entity',
        { id, ...toDurableQuery(options) },
        toConditionHeaders(options),
      )
      await body.dump()
    },
    async getExpiry(id, options = {}) {
      const reply = await requestFound('GET', EXPIRY_PATH, { id, ...toConsistencyQuery(options) })
      return (await reply?.body.json()) as KvExpiry | undefined
    },
    expire: (id, ttl, options = {}) => changeExpiry('PUT', { id, ttl: String(ttl) }, options),
    persist: (id, options = {}) => changeExpiry('DELETE', { id }, options),
    async batch(changes, options) {
      if (changes.length === 0) return
      await applyBatchLines(changes.map((change) => toOpLine(toOp(change))).join(''), options)
    },
    applyBatchLines,
    async *entries(range) {
      yield* parseEntries(await streamEntryLines(range))
    },
    async *keys(range) {
      for await (const line of readLines(await streamEntryLines({ ...range, keys: true })))
        yield (JSON.parse(line.toString()) as { id: string }).id
    },
    async count(range = {}) {
      const { body } = await requestRange(range, { count: 'true' })
      return ((await body.json()) as { count: number }).count
    },
    async getPage(range = {}) {
      const limit = Math.min(range.limit ?? DEFAULT_PAGE_ENTRIES, MAX_PAGE_ENTRIES)
      const { body, headers } = await requestRange({ ...range, limit }, {})
      const entries = await Array.fromAsync(parseEntries(body))
      return { entries, ...(headers.next !== undefined && { next: decodeURIComponent(String(headers.next)) }) }
    },
    streamEntryLines,
    watch,
    close: async () => void (await (closed ??= Promise.all([streams.destroy(), dispatcher.close()]))),
  }
}

async function* parseEntries(lines: AsyncIterable<Buffer>): AsyncGenerator<KvEntry> {
  for await (const line of readLines(lines)) {
    const op = parseLine(line.toString())
    if (typeof op === 'string' || op.type !== 'put') throw new ServiceError(200, 'BAD_LINE', `unexpected line: ${line}`)
    yield { id: op.key.toString(), value: op.value }
  }
}

/** Parses a line of the reply to `getMany`. */
function toFound(line: Buffer): KvValue | undefined {
  const { found, etag, value, valueBase64 } = JSON.parse(line.toString())
  if (!found) return undefined
  return { etag, value: value === undefined ? Buffer.from(valueBase64, 'base64') : Buffer.from(value) }
}

const toBytes = (value: string | Uint8Array) =>
  typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength)

function toOp(change: KvChange): Op {
  const key = Buffer.from(change.id)
  if (change.op === 'delete') return { type: 'del', key }
  if (change.op === 'expire') return { type: 'expire', key, ...(change.ttl !== null && { ttl: change.ttl * 1_000 }) }
  const { value, ttl } = change
  return { type: 'put', key, value: toBytes(value), ...(ttl !== undefined && { ttl: ttl * 1_000 }) }
}

function toChange(op: Op): KvChangeSet['changes'][number] {
  const id = op.key.toString()
  if (op.type === 'del') return { op: 'delete', id }
  const expiry = op.expiresAt === undefined ? {} : { expiresAt: op.expiresAt }
  return op.type === 'put' ? { op: 'put', id, value: op.value, ...expiry } : { op: 'expire', id, ...expiry }
}
