import { drawn, type Drawer } from './request-bytes.ts'

/** Most entries of any base, to try a table on less than what it tells of. */
const MOST = Number(process.env.BENCH_ENTRIES ?? Infinity)
/** Those of some sizes that are not more. */
export function tried(sizes: readonly number[]): number[] {
  return sizes.filter((size) => size <= MOST)
}
/** Entries of a full base, as many as at the source: ids are the numbers below. */
export const FULL = Math.min(1_500_000, MOST)
/** Entries that a new node of a cluster starts with. */
export const MILLION = Math.min(1_000_000, MOST)
/** Entries of a small one, for reads: of none there is nothing to read. */
export const SMALL = 1_000
/** Writes of a group. */
export const GROUP = 1_000
/** Entries of bases of other stores. */
export const ELSEWHERE = 10_000
/** Entries of bases that grow. */
export const SIZES = tried([SMALL, 10_000, 100_000, 1_000_000, 10_000_000])

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const [SHORTEST_ID, LONGEST_ID] = [3, 10]
const [SMALLEST, LARGEST] = [100, 200]

/** Letters that all values are pieces of. */
const TEXT = (() => {
  let state = 1
  return Array.from({ length: 65_536 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return LETTERS[(state >>> 16) % LETTERS.length]!
  }).join('')
})()
const BYTES = Buffer.from(TEXT)
/** The same with bytes of any kind, which nothing can compress and no text holds. */
const NOISE = (() => {
  let state = 1
  return Buffer.from(BYTES.map(() => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 24))
})()

/** Where the value of an id begins in the text, and where it ends. */
function placeOf(id: number): readonly [begin: number, end: number] {
  const mixed = Math.imul(id ^ (id >>> 15), 0x2c1b3c6d) >>> 0
  const begin = mixed % (TEXT.length - LARGEST)
  return [begin, begin + SMALLEST + ((mixed >>> 8) % (LARGEST - SMALLEST + 1))]
}

/** The value of 100 to 200 bytes that an id has in a prepared base. */
export const valueOf = (id: number): string => TEXT.slice(...placeOf(id))

const below = (random: () => number, limit: number) => Math.floor(random() * limit)

/** Reads of random ids; each reply must be the value of its id, byte for byte, where it is not a constant one. */
const readsOf = (entries: number, { constant = false, query = '' } = {}): Drawer => {
  return (common, random) => {
    const tail = `${query} HTTP/1.1\r\n${common}\r\n`
    return () => {
      const id = below(random, entries)
      const bytes = Buffer.from(`GET /v0/entity?id=${id}${tail}`, 'latin1')
      const [begin, end] = placeOf(id)
      const isRight = (body: Buffer) => body.compare(BYTES, begin, end) === 0
      return drawn(bytes, constant ? undefined : isRight)
    }
  }
}

/** Deletes of random ids: some of them more than once. */
const deletesOf = (entries: number): Drawer => {
  return (common, random) => () =>
    drawn(Buffer.from(`DELETE /v0/entity?id=${below(random, entries)} HTTP/1.1\r\n${common}\r\n`, 'latin1'))
}

/** 3 to 10 letters, as at the source, so that it is none of a prepared base. */
export function randomId(random: () => number): string {
  let id = ''
  for (let left = SHORTEST_ID + below(random, LONGEST_ID - SHORTEST_ID + 1); left > 0; left--) {
    id += LETTERS[below(random, LETTERS.length)]
  }
  return id
}

export const randomValue = (random: () => number): string => valueOf(below(random, FULL))

/** Writes of random ids and values. */
const writes = (query = '', textual = true): Drawer => {
  return (common, random) => {
    const head = ` HTTP/1.1\r\n${common}Content-Type: application/octet-stream\r\nContent-Length: `
    return () => {
      const [begin, end] = placeOf(below(random, FULL))
      const start = Buffer.from(`PUT /v0/entity?id=${randomId(random)}${query}${head}${end - begin}\r\n\r\n`, 'latin1')
      return drawn(Buffer.concat([start, (textual ? BYTES : NOISE).subarray(begin, end)]))
    }
  }
}

/** Groups of as many writes. */
const batches = (size: number): Drawer => {
  return (common, random) => () => {
    const line = () => `{"op":"put","id":"${randomId(random)}","value":"${randomValue(random)}"}\n`
    const body = Array.from({ length: size }, line).join('')
    const head = `POST /v0/batch HTTP/1.1\r\n${common}Content-Type: application/x-ndjson\r\nContent-Length: `
    return drawn(Buffer.from(`${head}${body.length}\r\n\r\n${body}`, 'latin1'))
  }
}

const base64 = (text: string | number) => Buffer.from(String(text)).toString('base64')

/** A request's first line and its body. */
type Asked = readonly [line: string, body: string]

/** How others are asked to read an entry, and to write one. */
export interface Manner {
  get(id: number): Asked
  put(id: number, value: string): Asked
}

const ofEtcd = (path: string, what: unknown): Asked => [`POST /v3/kv/${path}`, JSON.stringify(what)]

export const MANNERS: Readonly<Record<'webdis' | 'etcd' | 'goleveldb', Manner>> = {
  webdis: { get: (id) => [`GET /GET/${id}.txt`, ''], put: (id, value) => [`PUT /SET/${id}`, value] },
  etcd: {
    get: (id) => ofEtcd('range', { key: base64(id) }),
    put: (id, value) => ofEtcd('put', { key: base64(id), value: base64(value) }),
  },
  goleveldb: {
    get: (id) => [`GET /v0/entity?id=${id}`, ''],
    put: (id, value) => [`PUT /v0/entity?id=${id}`, value],
  },
}

/** The same reads and writes as others want them asked; a reply to a read must have the value in it. */
const elsewhere =
  ({ get, put }: Manner, isRead: boolean): Drawer =>
  (common, random) =>
  () => {
    const id = below(random, ELSEWHERE)
    const value = valueOf(id)
    const [line, body] = isRead ? get(id) : put(ELSEWHERE + id, value)
    const bytes = Buffer.from(`${line} HTTP/1.1\r\n${common}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    return drawn(bytes, isRead ? (reply) => reply.includes(value) || reply.includes(base64(value)) : undefined)
  }

export const kvDrawers: Readonly<Record<string, Drawer>> = {
  'kv-get': readsOf(FULL),
  'kv-get-linearizable': readsOf(SMALL, { query: '&linearizable=true' }),
  'kv-get-constant': readsOf(FULL, { constant: true }),
  ...Object.fromEntries(
    Object.entries(MANNERS).flatMap(([name, manner]) => [
      [`${name}-get`, elsewhere(manner, true)],
      [`${name}-put`, elsewhere(manner, false)],
    ]),
  ),
  'kv-put': writes(),
  'kv-put-bytes': writes('', false),
  'kv-batch': batches(GROUP),
  'kv-put-durable': writes('&durable=true'),
}

const OF_BASE = { get: readsOf, delete: deletesOf }

/** The drawer of a name with the number of entries of its base: `kv-get-1000`, `kv-delete-1000`. */
export function kvDrawerOfBase(name: string): Drawer | undefined {
  const [, operation, entries] = /^kv-(get|delete)-(\d+)$/.exec(name) ?? []
  return operation === undefined ? undefined : OF_BASE[operation as keyof typeof OF_BASE](Number(entries))
}
