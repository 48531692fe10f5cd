import type { Drawer, ReadyRequest } from './request-bytes.ts'

/** Entries of a full base, as many as at the source: ids are the numbers below. */
export const FULL = 1_500_000
/** Entries of a small one, for reads: of none there is nothing to read. */
export const SMALL = 1_000
/** Entries of bases of other stores. */
const ELSEWHERE = 10_000
/** Entries of bases that grow. */
export const SIZES = [SMALL, 10_000, 100_000, 1_000_000, 10_000_000]

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
const readsOf = (entries: number, { constant = false } = {}): Drawer => {
  return (common, random) => {
    const tail = ` HTTP/1.1\r\n${common}\r\n`
    return () => {
      const id = below(random, entries)
      const bytes = Buffer.from(`GET /v0/entity?id=${id}${tail}`, 'latin1')
      const [begin, end] = placeOf(id)
      const isRight = (body: Buffer) => body.compare(BYTES, begin, end) === 0
      return drawn(bytes, constant ? undefined : isRight)
    }
  }
}

/** Writes as at the source: ids of 3 to 10 letters, so that they never meet those of a prepared base; values of 100 to 200. */
const writes = (query = '', textual = true): Drawer => {
  return (common, random) => {
    const head = ` HTTP/1.1\r\n${common}Content-Type: application/octet-stream\r\nContent-Length: `
    return () => {
      let id = ''
      for (let left = SHORTEST_ID + below(random, LONGEST_ID - SHORTEST_ID + 1); left > 0; left--) {
        id += LETTERS[below(random, LETTERS.length)]
      }
      const [begin, end] = placeOf(below(random, FULL))
      const start = Buffer.from(`PUT /v0/entity?id=${id}${query}${head}${end - begin}\r\n\r\n`, 'latin1')
      return drawn(Buffer.concat([start, (textual ? BYTES : NOISE).subarray(begin, end)]))
    }
  }
}

/** None of these is sent twice: there is no reply to remember. */
const drawn = (bytes: Buffer, isRight?: ReadyRequest['isRight']): ReadyRequest => {
  return { bytes, bodiless: false, known: undefined, unlike: Infinity, isRight }
}

const base64 = (text: string | number) => Buffer.from(String(text)).toString('base64')

/** The same reads and writes as others want them asked; a reply to a read must have the value in it. */
const elsewhere = (
  requestOf: (id: number, value: string) => readonly [line: string, body: string],
  isRead: boolean,
): Drawer => {
  return (common, random) => () => {
    const id = below(random, ELSEWHERE)
    const [line, body] = requestOf(isRead ? id : ELSEWHERE + id, valueOf(id))
    const head = `${line} HTTP/1.1\r\n${common}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`
    const expected = [valueOf(id), base64(valueOf(id))]
    return drawn(
      Buffer.from(head + body),
      isRead ? (reply) => expected.some((value) => reply.includes(value)) : undefined,
    )
  }
}
const json = (path: string, what: unknown) => [`POST ${path}`, JSON.stringify(what)] as const

export const kvDrawers: Readonly<Record<string, Drawer>> = {
  'kv-get': readsOf(FULL),
  ...Object.fromEntries(SIZES.map((entries) => [`kv-get-${entries}`, readsOf(entries)])),
  'kv-get-constant': readsOf(FULL, { constant: true }),
  'webdis-get': elsewhere((id) => [`GET /GET/${id}.txt`, ''], true),
  'webdis-put': elsewhere((id, value) => [`PUT /SET/${id}`, value], false),
  'etcd-get': elsewhere((id) => json('/v3/kv/range', { key: base64(id) }), true),
  'etcd-put': elsewhere((id, value) => json('/v3/kv/put', { key: base64(id), value: base64(value) }), false),
  'kv-put': writes(),
  'kv-put-bytes': writes('', false),
  'kv-put-durable': writes('&durable=true'),
}
