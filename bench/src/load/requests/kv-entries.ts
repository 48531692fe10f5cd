import { createDrawnRequest, type Drawer } from './request-bytes.ts'

/** Maximum number of entries of any base, for trials of a table with fewer entries than its title states. */
const MAX_ENTRIES = Number(process.env.BENCH_ENTRIES ?? Infinity)
/** Returns the sizes up to this maximum. */
export function limitSizes(sizes: readonly number[]): number[] {
  return sizes.filter((size) => size <= MAX_ENTRIES)
}
/** Number of entries of a full base, as in the measurements of the source. The ids are the smaller numbers. */
export const FULL_BASE_ENTRIES = Math.min(1_500_000, MAX_ENTRIES)
/** Number of entries with which a new node of a cluster starts. */
export const NEW_NODE_ENTRIES = Math.min(1_000_000, MAX_ENTRIES)
/** Number of entries of a small base, for reads that are compared with a full base. */
export const SMALL_BASE_ENTRIES = 1_000
/** Number of writes in a batch. */
export const BATCH_ENTRIES = 1_000
/** Number of entries in the bases of other stores. */
export const PEER_BASE_ENTRIES = 10_000
/** Numbers of entries in the bases of the growth tables. */
export const BASE_SIZES = limitSizes([SMALL_BASE_ENTRIES, 10_000, 100_000, 1_000_000, 10_000_000])

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const [MIN_ID_LENGTH, MAX_ID_LENGTH] = [3, 10]
const [MIN_VALUE_BYTES, MAX_VALUE_BYTES] = [100, 200]

/** A long text. Every value is a part of it. */
const TEXT = (() => {
  let state = 1
  return Array.from({ length: 65_536 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return LETTERS[(state >>> 16) % LETTERS.length]!
  }).join('')
})()
const TEXT_BYTES = Buffer.from(TEXT)
/** Random bytes of the same length, which are incompressible and not valid text. */
const NOISE_BYTES = (() => {
  let state = 1
  return Buffer.from(TEXT_BYTES.map(() => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 24))
})()

/** Returns begin and end of the value of an id in `TEXT`. */
function getValueRange(id: number): readonly [begin: number, end: number] {
  const mixed = Math.imul(id ^ (id >>> 15), 0x2c1b3c6d) >>> 0
  const begin = mixed % (TEXT.length - MAX_VALUE_BYTES)
  return [begin, begin + MIN_VALUE_BYTES + ((mixed >>> 8) % (MAX_VALUE_BYTES - MIN_VALUE_BYTES + 1))]
}

/** Returns the value of an id in a prepared base: 100 to 200 bytes. */
export const getValue = (id: number): string => TEXT.slice(...getValueRange(id))

const drawBelow = (random: () => number, limit: number) => Math.floor(random() * limit)

/** Creates reads of random ids. Each reply must equal the value of its id, byte for byte, unless `constant` is true. */
const createReads = (entries: number, { constant = false, query = '' } = {}): Drawer => {
  return (common, random) => {
    const tail = `${query} HTTP/1.1\r\n${common}\r\n`
    return () => {
      const id = drawBelow(random, entries)
      const bytes = Buffer.from(`GET /v0/entity?id=${id}${tail}`, 'latin1')
      const [begin, end] = getValueRange(id)
      const isRight = (body: Buffer) => body.compare(TEXT_BYTES, begin, end) === 0
      return createDrawnRequest(bytes, constant ? undefined : isRight)
    }
  }
}

/** Creates deletes of random ids, some of them repeated. */
const createDeletes = (entries: number): Drawer => {
  return (common, random) => () =>
    createDrawnRequest(
      Buffer.from(`DELETE /v0/entity?id=${drawBelow(random, entries)} HTTP/1.1\r\n${common}\r\n`, 'latin1'),
    )
}

/** Draws an id of 3 to 10 letters, as in the measurements of the source. The ids of prepared bases are numbers. */
export function drawId(random: () => number): string {
  let id = ''
  for (let left = MIN_ID_LENGTH + drawBelow(random, MAX_ID_LENGTH - MIN_ID_LENGTH + 1); left > 0; left--) {
    id += LETTERS[drawBelow(random, LETTERS.length)]
  }
  return id
}

export const drawValue = (random: () => number): string => getValue(drawBelow(random, FULL_BASE_ENTRIES))

/** Creates writes of random ids and values. */
const createWrites = (query = '', textual = true): Drawer => {
  return (common, random) => {
    const head = ` HTTP/1.1\r\n${common}Content-Type: application/octet-stream\r\nContent-Length: `
    return () => {
      const [begin, end] = getValueRange(drawBelow(random, FULL_BASE_ENTRIES))
      const start = Buffer.from(`PUT /v0/entity?id=${drawId(random)}${query}${head}${end - begin}\r\n\r\n`, 'latin1')
      return createDrawnRequest(Buffer.concat([start, (textual ? TEXT_BYTES : NOISE_BYTES).subarray(begin, end)]))
    }
  }
}

/** Creates batches of `size` writes. */
const createBatches = (size: number): Drawer => {
  return (common, random) => () => {
    const line = () => `{"op":"put","id":"${drawId(random)}","value":"${drawValue(random)}"}\n`
    const body = Array.from({ length: size }, line).join('')
    const head = `POST /v0/batch HTTP/1.1\r\n${common}Content-Type: application/x-ndjson\r\nContent-Length: `
    return createDrawnRequest(Buffer.from(`${head}${body.length}\r\n\r\n${body}`, 'latin1'))
  }
}

const toBase64 = (text: string | number) => Buffer.from(String(text)).toString('base64')

/** Method and path of a request, and its body. */
type RequestParts = readonly [line: string, body: string]

/** Protocol of another store: the requests that read and write an entry. */
export interface PeerProtocol {
  get(id: number): RequestParts
  put(id: number, value: string): RequestParts
}

const toEtcdRequest = (path: string, what: unknown): RequestParts => [`POST /v3/kv/${path}`, JSON.stringify(what)]

export const PEER_PROTOCOLS: Readonly<Record<'webdis' | 'etcd' | 'goleveldb', PeerProtocol>> = {
  webdis: { get: (id) => [`GET /GET/${id}.txt`, ''], put: (id, value) => [`PUT /SET/${id}`, value] },
  etcd: {
    get: (id) => toEtcdRequest('range', { key: toBase64(id) }),
    put: (id, value) => toEtcdRequest('put', { key: toBase64(id), value: toBase64(value) }),
  },
  goleveldb: {
    get: (id) => [`GET /v0/entity?id=${id}`, ''],
    put: (id, value) => [`PUT /v0/entity?id=${id}`, value],
  },
}

/** Creates reads or writes in the protocol of another store. A reply to a read must contain the value. */
const createPeerDrawer =
  ({ get, put }: PeerProtocol, isRead: boolean): Drawer =>
  (common, random) =>
  () => {
    const id = drawBelow(random, PEER_BASE_ENTRIES)
    const value = getValue(id)
    const [line, body] = isRead ? get(id) : put(PEER_BASE_ENTRIES + id, value)
    const bytes = Buffer.from(`${line} HTTP/1.1\r\n${common}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    return createDrawnRequest(
      bytes,
      isRead ? (reply) => reply.includes(value) || reply.includes(toBase64(value)) : undefined,
    )
  }

export const kvDrawers: Readonly<Record<string, Drawer>> = {
  'kv-get': createReads(FULL_BASE_ENTRIES),
  'kv-get-linearizable': createReads(SMALL_BASE_ENTRIES, { query: '&linearizable=true' }),
  'kv-get-constant': createReads(FULL_BASE_ENTRIES, { constant: true }),
  ...Object.fromEntries(
    Object.entries(PEER_PROTOCOLS).flatMap(([name, protocol]) => [
      [`${name}-get`, createPeerDrawer(protocol, true)],
      [`${name}-put`, createPeerDrawer(protocol, false)],
    ]),
  ),
  'kv-put': createWrites(),
  'kv-put-bytes': createWrites('', false),
  'kv-batch': createBatches(BATCH_ENTRIES),
  'kv-put-durable': createWrites('&durable=true'),
}

const BASE_DRAWERS = { get: createReads, delete: createDeletes }

/** Returns the drawer whose name ends with the number of entries of its base: `kv-get-1000`, `kv-delete-1000`. */
export function getBaseDrawer(name: string): Drawer | undefined {
  const [, operation, entries] = /^kv-(get|delete)-(\d+)$/.exec(name) ?? []
  return operation === undefined ? undefined : BASE_DRAWERS[operation as keyof typeof BASE_DRAWERS](Number(entries))
}
