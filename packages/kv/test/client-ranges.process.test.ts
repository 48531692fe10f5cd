import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { KvChangeSet } from '../src/client.ts'
import { countEntries } from '../src/routes/range-summary.ts'
import { openLevelStore } from './support/level-store.ts'
import { startKv, type TestKv } from './support/kv.ts'
import { countTurns } from './support/turns.ts'

let kv: TestKv
const ids = Array.from({ length: 250 }, (_, i) => `p/${String(i).padStart(3, '0')}é`)
beforeAll(async () => {
  kv = await startKv()
  await kv.client.batch(ids.map((id) => ({ op: 'put', id, value: Buffer.from([0xff, id.length]) })))
  await kv.client.put('q', 'other')
})
afterAll(() => kv.stop())

it('returns the entries, the keys and the count of a prefix, in either direction', async () => {
  const range = { prefix: 'p/', limit: 20, reverse: true }
  const last = ids.slice(-20).toReversed()
  expect(await Array.fromAsync(kv.client.entries(range), ({ id }) => id)).toEqual(last)
  expect(await Array.fromAsync(kv.client.keys(range))).toEqual(last)
  expect(await kv.client.count({ prefix: 'p/' })).toBe(250)
  expect(await kv.client.count()).toBe(251)
  expect(await kv.client.count({ start: 'p/200', end: 'p/202' })).toBe(2)
})

it('returns a range page by page', async () => {
  for (const [limit, pages] of [
    [undefined, 3],
    [125, 2],
    [100_000, 1],
  ] as const) {
    const found: string[] = []
    let count = 0
    let cursor: string | undefined
    do {
      const { entries, next } = await kv.client.getPage({ prefix: 'p/', cursor, limit })
      found.push(...entries.map(({ id }) => id))
      cursor = next
      count++
    } while (cursor !== undefined)
    expect([found, count]).toEqual([ids, pages])
  }
})

it('returns many keys at once, in the order of the request', async () => {
  const found = await kv.client.getMany(['q', 'none', ids[3]!, 'q'])
  expect(found.map((one) => one?.value.toString('latin1'))).toEqual(['other', undefined, '\xff\x06', 'other'])
  expect(found[0]!.etag).toBe((await kv.client.get('q'))!.etag)
  expect(await kv.client.getMany([])).toEqual([])
  const manyKeys = Array.from({ length: 10_001 }, () => 'q')
  await expect(kv.client.getMany(manyKeys)).rejects.toMatchObject({ code: 'KEYS_TOO_LARGE' })
})

it('watches a prefix', async () => {
  const stream = kv.client.watch({ prefix: 'w/\u{10ffff}' })[Symbol.asyncIterator]()
  await stream.next()
  for (const id of ['w/', 'w0', 'w/\u{10ffff}a', 'x']) await kv.client.put(id, '1')
  await kv.client.put('w/\u{10ffff}', 'last')
  const seen: string[] = []
  while (seen.at(-1) !== 'w/\u{10ffff}') {
    const { value } = await stream.next()
    seen.push(...(value as KvChangeSet).changes.map(({ id }) => id))
  }
  expect(seen).toEqual(['w/\u{10ffff}a', 'w/\u{10ffff}'])
  await stream.return!()
})

it('counts a range in slices, and stops when its client disconnects', async () => {
  const store = await openLevelStore()
  onTestFinished(() => store.close())
  const key = (i: number) => Buffer.from(`k${String(i).padStart(6, '0')}`)
  const ops = Array.from({ length: 60_000 }, (_, i) => ({ type: 'put' as const, key: key(i), value: key(i) }))
  await store.write({ ops, durable: false }, () => {})
  const snapshot = store.snapshot()
  const range = { start: key(0) }
  const { turns, result } = await countTurns(() => countEntries(snapshot, range, () => false))
  expect(result).toBe(60_000)
  expect(turns).toBeGreaterThan(5)
  expect(await countEntries(snapshot, range, () => true)).toBeLessThan(60_000)
  await snapshot.close()
})
