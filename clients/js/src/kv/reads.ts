import { readJson, readLines } from '../core/reply-parts.ts'
import type { Requester } from '../core/requester.ts'
import { ignoreCodes } from '../core/service-error.ts'
import type { KvClient, KvExpiry, RangeOptions, KvReadOptions } from './types.ts'
import { parseBytes, withText, type EntryLine, type KvEntry, type KvValue } from './values.ts'

const MAX_PAGE_ENTRIES = 1_000
const DEFAULT_PAGE_ENTRIES = 100

/** Returns the parts of a read: its consistency as parameters, and the options of its call. */
const toReadParts = ({ linearizable, after, signal, timeout }: KvReadOptions) => ({
  query: { linearizable: linearizable || undefined, after },
  call: { signal, timeout },
})

function toRangeParts(
  { prefix, start, end, limit, reverse, cursor, ...options }: RangeOptions,
  extraQuery: { readonly keys?: true; readonly count?: true } = {},
) {
  const { query, call } = toReadParts(options)
  return {
    query: { ...query, prefix, start, end, limit, cursor, reverse: reverse || undefined, ...extraQuery },
    headers: { accept: 'application/x-ndjson' },
    call,
  }
}

const parseLine = (line: string) => JSON.parse(line) as EntryLine
const toEntry = (line: EntryLine): KvEntry => withText({ id: line.id, ...parseBytes(line) })

/** Creates the methods that read values and ranges. */
export function createReads({ call, stream }: Requester) {
  /** Resolves with `undefined` if the key has no value. */
  function readKey<T>(path: string, id: string, options: KvReadOptions, read: (reply: Response) => Promise<T>) {
    const { query, ...parts } = toReadParts(options)
    return ignoreCodes(call('GET', path, { query: { id, ...query }, ...parts }, read), 'ENTITY_NOT_FOUND')
  }

  return {
    get: (id, options = {}) =>
      readKey('/v0/entity', id, options, async (reply): Promise<KvValue> => {
        const expiresAt = reply.headers.get('expires-at')
        return withText({
          value: new Uint8Array(await reply.arrayBuffer()),
          etag: reply.headers.get('etag')!,
          ...(expiresAt !== null && { expiresAt: Number(expiresAt) }),
        })
      }),
    async getMany(ids, options = {}) {
      if (ids.length === 0) return []
      const text = await call('POST', '/v0/entities/get', { json: { ids }, ...toReadParts(options) }, (reply) =>
        reply.text(),
      )
      const lines = text.split('\n').filter(Boolean).map(parseLine)
      return lines.map((line) => (line.found ? withText({ ...parseBytes(line), etag: line.etag! }) : undefined))
    },
    getExpiry: (id, options = {}) => readKey('/v0/entity/expiry', id, options, readJson<KvExpiry>),
    entries: (range = {}) =>
      stream('GET', '/v0/entities', toRangeParts(range), async function* readEntries(chunks) {
        for await (const line of readLines(chunks)) yield toEntry(parseLine(line))
      }),
    keys: (range = {}) =>
      stream('GET', '/v0/entities', toRangeParts(range, { keys: true }), async function* readKeys(chunks) {
        for await (const line of readLines(chunks)) yield parseLine(line).id
      }),
    count: (range = {}) =>
      call(
        'GET',
        '/v0/entities',
        toRangeParts(range, { count: true }),
        async (reply) => (await readJson<{ count: number }>(reply)).count,
      ),
    getPage(range = {}) {
      const limit = Math.min(range.limit ?? DEFAULT_PAGE_ENTRIES, MAX_PAGE_ENTRIES)
      return call('GET', '/v0/entities', toRangeParts({ ...range, limit }), async (reply) => {
        const lines = (await reply.text()).split('\n').filter(Boolean)
        const next = reply.headers.get('next')
        const entries = lines.map((line) => toEntry(parseLine(line)))
        return { entries, ...(next !== null && { next: decodeURIComponent(next) }) }
      })
    },
  } satisfies Partial<KvClient>
}
