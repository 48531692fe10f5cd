import { ignoreErrors } from '@influencer-stats/runtime/service-client'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { Dispatcher } from 'undici'
import { parseLine } from '../core/change-lines.ts'
import { readLines } from '@influencer-stats/runtime/async/read-lines'
import type { KvRequester } from './requester.ts'
import type { KvClient, KvEntry, KvExpiry, KvValue, RangeOptions, ReadOptions } from './types.ts'

// Size of a page (entries).
const MAX_PAGE_ENTRIES = 1_000
const DEFAULT_PAGE_ENTRIES = 100

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

/** Creates the methods of a client that read values and ranges. */
export function createReads({ send }: Pick<KvRequester, 'send'>) {
  /** Resolves with `undefined` if the key has no value. */
  const readKey = (path: string, id: string, options: ReadOptions) =>
    ignoreErrors(send('GET', path, { query: { id, ...toConsistencyQuery(options) } }), 'ENTITY_NOT_FOUND')

  const requestRange = (
    range: RangeOptions,
    extraQuery: { keys?: string | undefined; count?: string } = {},
  ): Promise<Dispatcher.ResponseData> =>
    send('GET', '/v0/entities', {
      query: { ...toRangeQuery(range), ...extraQuery },
      headers: { accept: 'application/x-ndjson' },
    })

  const streamEntryLines: KvClient['streamEntryLines'] = async ({ keys, ...range } = {}) =>
    (await requestRange(range, { keys: keys ? 'true' : undefined })).body

  return {
    async get(id, options = {}) {
      const reply = await readKey('/v0/entity', id, options)
      return reply && { value: Buffer.from(await reply.body.arrayBuffer()), etag: String(reply.headers.etag) }
    },
    async getMany(ids, options = {}) {
      if (ids.length === 0) return []
      const { body } = await send('POST', '/v0/entities/get', {
        query: toConsistencyQuery(options),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ids }),
      })
      return Array.fromAsync(readLines(body), parseFound)
    },
    async getExpiry(id, options = {}) {
      const reply = await readKey('/v0/entity/expiry', id, options)
      return (await reply?.body.json()) as KvExpiry | undefined
    },
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
      const { body, headers } = await requestRange({ ...range, limit })
      const entries = await Array.fromAsync(parseEntries(body))
      return { entries, ...(headers.next !== undefined && { next: decodeURIComponent(String(headers.next)) }) }
    },
    streamEntryLines,
  } satisfies Partial<KvClient>
}

async function* parseEntries(lines: AsyncIterable<Buffer>): AsyncGenerator<KvEntry> {
  for await (const line of readLines(lines)) {
    const op = parseLine(line.toString())
    if (typeof op === 'string' || op.type !== 'put') throw new ServiceError(200, 'BAD_LINE', `unexpected line: ${line}`)
    yield { id: op.key.toString(), value: op.value }
  }
}

/** Parses a line of the reply to `getMany`. */
function parseFound(line: Buffer): KvValue | undefined {
  const { found, etag, value, valueBase64 } = JSON.parse(line.toString())
  if (!found) return undefined
  return { etag, value: value === undefined ? Buffer.from(valueBase64, 'base64') : Buffer.from(value) }
}
