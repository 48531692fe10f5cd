import { ServiceError, toServiceError } from '@influencer-stats/runtime/service-error'
import { Agent, request, type Dispatcher } from 'undici'
import { eachLine } from './core/each-line.ts'
import { opLine, parseLine, type Op } from './core/lines.ts'

export interface KvClientOptions {
  /** Needed for changes where the service was started with an `API_TOKEN`. */
  readonly token?: string
  /** Most connections at a time. */
  readonly connections?: number
  /** How long the service may be silent (ms), to the nearest second or so: while connecting, before and amid a reply. */
  readonly timeout?: number
}

/** A value and the tag that a conditional write names it by: of the write that put it there, not of its bytes. */
export interface KvValue {
  readonly value: Buffer
  readonly etag: string
}

export interface WriteOptions {
  /** Resolve only once it would survive a power cut. */
  readonly durable?: boolean
}

export interface ConditionalOptions extends WriteOptions {
  /** Only if the value there has this tag, or (`*`) there is one. */
  readonly ifMatch?: string
  /** Only if there is none. */
  readonly ifNoneMatch?: '*'
}

export interface RangeOptions {
  /** The first key; without it, from the first there is. */
  readonly start?: string
  /** The first key that is left out; without it, to the last there is. */
  readonly end?: string
  readonly limit?: number
}

/** A change of a batch. */
export type KvChange =
  | { readonly op: 'put'; readonly id: string; readonly value: string | Uint8Array }
  | { readonly op: 'delete'; readonly id: string }

/** A client for the service at one address. A miss is `undefined`; what is refused rejects with a `ServiceError`. */
export interface KvClient {
  get(id: string): Promise<KvValue | undefined>
  /** Resolves with the new value's tag. @throws ServiceError `CONDITION_FAILED` */
  put(id: string, value: string | Uint8Array, options?: ConditionalOptions): Promise<string>
  /** Also where there is none. @throws ServiceError `CONDITION_FAILED` */
  delete(id: string, options?: ConditionalOptions): Promise<void>
  /** All changes or none, in their order. */
  batch(changes: readonly KvChange[], options?: WriteOptions): Promise<void>
  /** The same, of lines of NDJSON. */
  batchLines(lines: string | Uint8Array, options?: WriteOptions): Promise<void>
  /** Entries in the order of their keys' bytes, as they are when the reply begins. */
  entries(range?: RangeOptions): AsyncIterable<{ readonly id: string; readonly value: Buffer }>
  /** The same as the bytes of NDJSON, in pieces that lines may straddle. */
  entryLines(range?: RangeOptions): Promise<AsyncIterable<Buffer>>
  /** Idempotent. */
  close(): Promise<void>
}

const NDJSON = 'application/x-ndjson'
const ALL = '\0'

/** A client for the service at `url`. */
export function createKvClient(url: string, { token, connections = 64, timeout }: KvClientOptions = {}): KvClient {
  const dispatcher = new Agent({
    connections,
    ...(timeout && { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } }),
  })
  const authorization = token ? { authorization: `Bearer ${token}` } : {}

  async function ask(
    method: Dispatcher.HttpMethod,
    path: string,
    query: Record<string, string | undefined>,
    headers: Record<string, string | undefined> = {},
    body?: string | Uint8Array,
  ): Promise<Dispatcher.ResponseData> {
    const target = new URL(path, url)
    for (const [name, value] of Object.entries(query)) if (value !== undefined) target.searchParams.set(name, value)
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    const reply = await request(target, { method, dispatcher, headers: { ...authorization, ...given }, body })
    if (reply.statusCode < 400) return reply
    const text = await reply.body.text()
    throw toServiceError(reply.statusCode, text)
  }

  const durability = ({ durable }: WriteOptions) => ({ durable: durable ? 'true' : undefined })
  const conditions = ({ ifMatch, ifNoneMatch }: ConditionalOptions) => ({
    'if-match': ifMatch,
    'if-none-match': ifNoneMatch,
  })

  async function entryLines({ start = ALL, end, limit }: RangeOptions = {}): Promise<AsyncIterable<Buffer>> {
    const query = { start, end, limit: limit === undefined ? undefined : String(limit) }
    return (await ask('GET', '/v0/entities', query, { accept: NDJSON })).body
  }

  async function batchLines(lines: string | Uint8Array, options: WriteOptions = {}): Promise<void> {
    const { body } = await ask('POST', '/v0/batch', durability(options), { 'content-type': NDJSON }, lines)
    await body.dump()
  }

  let closed: Promise<void> | undefined
  return {
    async get(id) {
      try {
        const { headers, body } = await ask('GET', '/v0/entity', { id })
        return { value: Buffer.from(await body.arrayBuffer()), etag: String(headers.etag) }
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'ENTITY_NOT_FOUND') return undefined
        throw error
      }
    },
    async put(id, value, options = {}) {
      const headers = { 'content-type': 'application/octet-stream', ...conditions(options) }
      const reply = await ask('PUT', '/v0/entity', { id, ...durability(options) }, headers, value)
      await reply.body.dump()
      return String(reply.headers.etag)
    },
    async delete(id, options = {}) {
      const { body } = await ask('DELETE', '/v0/entity', { id, ...durability(options) }, conditions(options))
      await body.dump()
    },
    batch: (changes, options) => batchLines(changes.map((change) => opLine(toOp(change))).join(''), options),
    batchLines,
    async *entries(range) {
      for await (const line of eachLine(await entryLines(range))) {
        const op = parseLine(line.toString())
        if (typeof op === 'string' || op.type !== 'put')
          throw new ServiceError(200, 'BAD_LINE', `unexpected line: ${line}`)
        yield { id: op.key.toString(), value: op.value }
      }
    },
    entryLines,
    close: () => (closed ??= dispatcher.close()),
  }
}

const toBytes = (value: string | Uint8Array) =>
  typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength)

function toOp(change: KvChange): Op {
  const key = Buffer.from(change.id)
  return change.op === 'put' ? { type: 'put', key, value: toBytes(change.value) } : { type: 'del', key }
}
