import { Level } from 'level'
import fc from 'fast-check'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Utf8Level } from '../src/level/utf8-level.ts'
import { scaleRuns } from './support/scale-runs.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { createKeys } from './support/utf8-keys.ts'

const MAX_KEY_BYTES = 1_024
/** Bytes by which the engine's buffer exceeds the first key read. */
const SPARE_BYTES = 64
const AS_TEXT = { keyEncoding: 'utf8', valueEncoding: 'utf8' } as const
const AS_BYTES = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
const toBytes = (key: string) => Buffer.from(key)
const lengths = Array.from({ length: MAX_KEY_BYTES + SPARE_BYTES }, (_, i) => i + 1)

describe.each([
  ['text', AS_TEXT],
  ['bytes', AS_BYTES],
])('a database with keys of 1 to 1,088 bytes, opened for %s', (_, encodings) => {
  const folder = createTemporaryFolder()
  /** Every second key. The value is the key. */
  const model = new Map<string, string>()
  const keys = lengths.flatMap(createKeys)
  const jumping = Array.from(keys, (_, i) => keys[(i * 7_919) % keys.length]!)
  let owner: Level

  /** Opens another handle of the same database, which has a separate key buffer. */
  async function open(): Promise<Utf8Level<any, any>> {
    const db = new Utf8Level<any, any>(folder, { multithreading: true, ...encodings })
    await db.open()
    db.getSync('k', AS_TEXT)
    return db
  }

  function checkRead(db: Utf8Level<any, any>, key: string): void {
    if (db.getSync(key, AS_TEXT) !== model.get(key)) expect(db.getSync(key, AS_TEXT)).toBe(model.get(key))
  }

  beforeAll(async () => {
    owner = new Level(folder, { multithreading: true })
    await owner.open()
    const batch = owner.batch()
    for (const [i, key] of keys.entries()) {
      if (i % 2 !== 0) continue
      model.set(key, key)
      batch.put(key, key)
    }
    await batch.write()
  })
  afterAll(() => owner.close())

  it('finds each key at every size of the key buffer', async () => {
    for (let first = 1; first <= MAX_KEY_BYTES; first++) {
      const db = await open()
      db.getSync('k'.repeat(first), AS_TEXT)
      const buffer = Buffer.alloc(first + SPARE_BYTES)
      const around = lengths.slice(buffer.length - 6, buffer.length + 4).flatMap(createKeys)
      // A key that fills the buffer makes the engine replace it by a larger one, so these keys come last.
      const { true: filling = [], false: others = [] } = Object.groupBy(
        around,
        (key) => `${buffer.write(key) === buffer.length}`,
      )
      for (const key of [...others, ...filling]) checkRead(db, key)
      await db.close()
    }
  })

  it('finds keys in 100,000 reads that jump, grow and shrink in length, also after a reopen', async () => {
    const db = await open()
    const some = [...jumping, ...keys, ...keys.toReversed()]
    for (const key of some) checkRead(db, key)
    await db.close()
    await db.open()
    for (const key of [...some, ...some.toReversed(), ...jumping]) checkRead(db, key)
    expect(some.length * 3 + jumping.length).toBeGreaterThan(100_000)
    await db.close()
  })

  it('gives the same result with every read method', async () => {
    const db = await open()
    const some = jumping.filter((_, i) => i % 3 === 0)
    const plain = encodings === AS_TEXT ? some : some.map(toBytes)
    const expected = some.map((key) => model.get(key))
    /** The keys whose value differs from the expected one: complete lists would be unreadable. */
    function check(found: readonly unknown[]): void {
      const texts = found.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value))
      expect(some.filter((_, i) => texts[i] !== expected[i])).toEqual([])
    }
    const snapshot = db.snapshot()
    check(some.map((key) => db.getSync(key, { ...AS_TEXT, snapshot })))
    check(some.map((key) => db.getSync(key, { keyEncoding: 'utf8', valueEncoding: 'view' })))
    check(some.map((key) => db.getSync(toBytes(key), AS_BYTES)))
    check(plain.map((key) => db.getSync(key)))
    check(await Promise.all(some.map((key) => db.get(key, AS_TEXT))))
    check(await db.getMany(plain))
    check(await db.getMany(some, { ...AS_TEXT, snapshot }))
    const has = await Promise.all(some.map((key) => db.has(key, { keyEncoding: 'utf8' })))
    check(has.map((isThere, i) => (isThere ? some[i] : undefined)))
    await snapshot.close()
    await db.close()
  })

  it('bounds ranges by keys of any length', async () => {
    const db = await open()
    const sorted = [...model.keys()].map(toBytes).toSorted(Buffer.compare)
    for (const key of keys.filter((_, i) => i % 100 === 0)) {
      const order = (one: Buffer) => Buffer.compare(one, toBytes(key))
      const first = async (range: object) =>
        (await db.keys<string>({ ...range, limit: 1, keyEncoding: 'utf8' }).all())[0]
      expect(await first({ gte: key, lte: key })).toBe(model.get(key))
      expect(await first({ gt: key })).toBe(sorted.find((one) => order(one) > 0)?.toString())
      expect(await first({ lt: key, reverse: true })).toBe(sorted.findLast((one) => order(one) < 0)?.toString())
    }
    await db.close()
  })

  it('finds any stored text by its bytes', async () => {
    const unit = fc.constantFrom('a', 'é', '日', '🎈', '\0', '\u{10ffff}', '\ufffd', '\ud800', '\x7f', '\x80')
    const text = fc.string({ unit, minLength: 1, maxLength: 300 })
    await fc.assert(
      fc.asyncProperty(text, async (key) => {
        const db = await open()
        await db.put(toBytes(key), toBytes(key), AS_BYTES)
        expect(db.getSync(key, AS_TEXT)).toBe(toBytes(key).toString())
        await db.close()
      }),
      { numRuns: scaleRuns(300) },
    )
  })
})

it('clears and deletes exactly the keys that it names, at any length', async () => {
  const db = new Utf8Level(createTemporaryFolder())
  await db.open()
  db.getSync('a')
  const keys = lengths.flatMap(createKeys)
  await db.batch(keys.map((key) => ({ type: 'put', key, value: key })))
  for (const key of keys.filter((_, i) => i % 4 === 0)) await db.del(key)
  for (const key of keys.filter((_, i) => i % 16 === 1)) await db.clear({ gte: key, lte: key })
  for (const [i, key] of keys.entries()) expect(db.getSync(key)).toBe(i % 4 === 0 || i % 16 === 1 ? undefined : key)
  await db.close()
})

it('classic-level itself still truncates keys: a failure means that Utf8Level is unnecessary', async () => {
  const db = new Level(createTemporaryFolder())
  await db.open()
  db.getSync('k')
  await db.put('é'.repeat(32), 'shorter')
  await db.put('é'.repeat(40), 'longer')
  // Correct would be 'longer'.
  expect(db.getSync('é'.repeat(40))).toBe('shorter')
  await db.close()
})

it('no service opens LevelDB directly', () => {
  const packages = new URL('../../', import.meta.url)
  const files = readdirSync(packages).flatMap((name) => {
    const folder = new URL(`${name}/src/`, packages)
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => new URL(file, folder))
  })
  const sources = files.filter(({ pathname }) => pathname.endsWith('.ts'))
  expect(sources.length).toBeGreaterThan(300)
  const opening = sources.filter((file) => /new Level\b/.test(readFileSync(file, 'utf8')))
  expect(opening.map(({ pathname }) => pathname)).toEqual([])
})
