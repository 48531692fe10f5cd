import { pause } from '@influencer-stats/runtime/service-client'
import { ServiceError, toServiceError } from '@influencer-stats/runtime/service-error'
import { getTraceHeaders } from '@influencer-stats/runtime/trace'
import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import { Agent, request, type Dispatcher } from 'undici'
import { readLines } from './core/read-lines.ts'
import { toOpLine, parseLine, type Op } from './core/change-lines.ts'
import { parseWatchEvents } from './core/watch-events.ts'

export interface KvClientOptions {
  /** Needed for changes where the service was started with an `API_TOKEN`. */
  readonly token?: string
  /** Most connections at a time. */
  readonly connections?: number
  /** How long the service may be silent (ms), to the nearest second or so: while connecting, before and amid a reply. */
  readonly timeout?: number
  /** Times every request, to the head of its reply. */
  readonly timer?: UpstreamTimer
}

/** A value and the tag that a conditional write names it by: of the write that put it there, not of its bytes. */
export interface KvValue {
  readonly value: Buffer
  readonly etag: string
}

export interface WriteOptions {
  /** Resolve only once it would survive a power cut. */
  readonly durable?: boolean
  /**
   * What this change is to be known by, 1 to 255 visible characters: made again with it, within an hour, it is not done
   * again, and resolves as the first did. So it can be repeated after `OUTCOME_UNKNOWN`, or after no reply at all.
   */
  readonly idempotencyKey?: string
}

export interface ReadOptions {
  /** See all that was acknowledged before, by any node of many. */
  readonly linearizable?: boolean
  /** See all up to this place in the log of many nodes. @throws ServiceError `SEQUENCE_WAIT_TIMEOUT` */
  readonly after?: number
}

export interface ConditionalOptions extends WriteOptions {
  /** Only if the value there has this tag, or (`*`) there is one. */
  readonly ifMatch?: string
  /** Only if there is none. */
  readonly ifNoneMatch?: '*'
}

export interface PutOptions extends ConditionalOptions {
  /** The value is gone after so long (s); without it, it stays. */
  readonly ttl?: number
}

/** Keys of a range: all keys with a prefix, or all keys between two keys. */
export interface KeyBounds {
  /** Replaces `start` and `end`. */
  readonly prefix?: string
  /** The first key; without it, from the first there is. */
  readonly start?: string
  /** The first key that is left out; without it, to the last there is. */
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
  /** Remaining time at the moment of the response (ms). */
  readonly remaining: number | null
}

/** A change of a batch. A `ttl` sets the time to expiry (s); null removes the expiry. `expire` does not change the value. */
export type KvChange =
  | { readonly op: 'put'; readonly id: string; readonly value: string | Uint8Array; readonly ttl?: number }
  | { readonly op: 'delete'; readonly id: string }
  | { readonly op: 'expire'; readonly id: string; readonly ttl: number | null }

export interface WatchOptions extends KeyBounds {
  /** The place to begin behind; without it, with what comes next. */
  readonly after?: number
  /** Ends it when it is aborted. */
  readonly signal?: AbortSignal
}

/** What became of keys at one place of the order. */
export interface KvChangeSet {
  readonly sequence: number
  /** In their order; none where it only says how far the stream is. What expires does so at a time in ms since 1970. */
  readonly changes: readonly (
    | { readonly op: 'put'; readonly id: string; readonly value: Buffer; readonly expiresAt?: number }
    | { readonly op: 'delete'; readonly id: string }
    | { readonly op: 'expire'; readonly id: string; readonly expiresAt?: number }
  )[]
}

/** A client for the service at one address. A miss is `undefined`; what is refused rejects with a `ServiceError`. */
export interface KvClient {
  /**
   * The last place in the log of many nodes that replies have told, where they tell one: asked for as `after`, any node
   * shows what was written by this client.
   */
  readonly sequence: number | undefined
  get(id: string, options?: ReadOptions): Promise<KvValue | undefined>
  /**
   * Reads the values of many keys at one moment, in the order of the keys. Maximum 10,000 keys in 1 MiB.
   * @throws ServiceError `KEYS_TOO_LARGE`
   */
  getMany(ids: readonly string[], options?: ReadOptions): Promise<(KvValue | undefined)[]>
  /** Resolves with the new value's tag. @throws ServiceError `CONDITION_FAILED` */
  put(id: string, value: string | Uint8Array, options?: PutOptions): Promise<string>
  /** Also where there is none. @throws ServiceError `CONDITION_FAILED` */
  delete(id: string, options?: ConditionalOptions): Promise<void>
  /** Resolves with the expiry of a value; `undefined` if the key has no value. */
  getExpiry(id: string, options?: ReadOptions): Promise<KvExpiry | undefined>
  /**
   * Sets the time to expiry of a value (s); its ETag does not change. Resolves with false if the key has no value.
   * @throws ServiceError `CONDITION_FAILED`
   */
  expire(id: string, ttl: number, options?: ConditionalOptions): Promise<boolean>
  /**
   * Removes the expiry of a value; its ETag does not change. Resolves with false if the key has no value.
   * @throws ServiceError `CONDITION_FAILED`
   */
  persist(id: string, options?: ConditionalOptions): Promise<boolean>
  /** Applies all changes, in their order, or none. Sends no request if `changes` is empty. */
  batch(changes: readonly KvChange[], options?: WriteOptions): Promise<void>
  /** The same, of lines of NDJSON. */
  applyBatchLines(lines: string | Uint8Array, options?: WriteOptions): Promise<void>
  /** Entries in the order of their keys' bytes, as they are when the reply begins. */
  entries(range?: RangeOptions): AsyncIterable<KvEntry>
  /** Keys of a range, without values. */
  keys(range?: RangeOptions): AsyncIterable<string>
  /** Number of entries in a range. */
  count(range?: RangeOptions): Promise<number>
  /** Reads one page of entries. @param range `limit` is 1 to 1,000, default 100 */
  getPage(range?: RangeOptions): Promise<KvPage>
  /** Entries as bytes of NDJSON; a line may span several pieces. With `keys`, only the keys. */
  streamEntryLines(range?: RangeOptions & { readonly keys?: boolean }): Promise<AsyncIterable<Buffer>>
  /**
   * Changes of a range as they are made, what took effect together at once. Without `after` the first has none: nothing
   * behind its place is missed, so that a range which is read from then on can be kept up to date. A stream that is lost
   * is opened again, and goes on behind the last place.
   * @throws ServiceError `SEQUENCE_EXPIRED` where what came behind that is not kept any more: read the range again
   */
  watch(options?: WatchOptions): AsyncIterable<KvChangeSet>
  /** Ends streams, too. Idempotent. */
  close(): Promise<void>
}

const NDJSON = 'application/x-ndjson'
const EXPIRY_PATH = '/v0/entity/expiry'
/** Maximum and default size of a page (entries). */
const MAX_PAGE_ENTRIES = 1_000
const PAGE_ENTRIES = 100
/** A stream that was lost before it brought anything is opened again after (ms). */
const RETRY_DELAY_MS = 1_000
/** A stream that shows no sign of life for so long is lost (ms): four heartbeats. */
const STREAM_TIMEOUT_MS = 60_000
const NEVER_SIGNAL = new AbortController().signal

/** A client for the service at `url`. */
export function createKvClient(
  url: string,
  { token, connections = 64, timeout, timer: timed }: KvClientOptions = {},
): KvClient {
  const dispatcher = new Agent({
    connections,
    ...(timeout && { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } }),
  })
  // Streams last: they must not take the connections of the others.
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
    const call = timed?.('kv')
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
      let isNew = false
      try {
        const query = { prefix, start, end, after: cursor?.toString() }
        const { body } = await sendRequest('GET', '/v0/watch', query, {}, undefined, { signal })
        for await (const { seq, ops } of parseWatchEvents(body)) {
          cursor = seq
          isNew ||= ops.length > 0
          yield { sequence: seq, changes: ops.map(toChange) }
        }
      } catch (error) {
        // What is refused for good is told; a stream that was lost, and a service that is busy or away, comes back.
        if (error instanceof TypeError || (error instanceof ServiceError && error.status < 500)) throw error
      }
      // One that brought something is worth going on with at once.
      if (!isNew && !closed) await pause(RETRY_DELAY_MS, signal)
    }
  }

  /** Sends a request like `ask`; resolves with `undefined` for a key without a value. */
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
      const limit = Math.min(range.limit ?? PAGE_ENTRIES, MAX_PAGE_ENTRIES)
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
