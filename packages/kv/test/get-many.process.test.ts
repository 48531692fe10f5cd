import { SERVERS } from '@influencer-stats/runtime/settings'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parts } from '../src/parts.ts'
import { startKv, type TestKv } from './support/kv.ts'

const URL = '/v0/entities/get'
const STORES = Object.keys(parts.store) as (keyof typeof parts.store)[]
const cases = STORES.flatMap((store) => SERVERS.map((server) => ({ store, server })))

describe.each(cases)('many keys of store $store with server $server', ({ store, server }) => {
  let kv: TestKv
  beforeAll(async () => {
    kv = await startKv({ store, server })
  })
  afterAll(() => kv.stop())

  it('returns the same value as a single read for each key, in the order of the request', async () => {
    const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 })
    const value = fc.oneof(fc.uint8Array({ maxLength: 20 }), fc.string({ unit: 'grapheme', maxLength: 20 }))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(key, value), { maxLength: 10 }),
        fc.array(key, { minLength: 1, maxLength: 20 }),
        async (puts, others) => {
          for (const [id, put] of puts) await kv.client.put(id, put)
          const ids = [...others, ...puts.map(([id]) => id)]
          const singleReads = await Promise.all(ids.map((id) => kv.client.get(id)))
          expect(await kv.client.getMany(ids)).toEqual(singleReads)
        },
      ),
      { numRuns: 20 },
    )
  })

  it('states which keys exist, and their expiries', async () => {
    await kv.client.put('many/a', 'text é\u2028')
    await kv.client.put('many/b', Buffer.from([0xff]), { ttl: 3_600 })
    const { status, headers, text } = await kv.request(
      'POST',
      URL,
      JSON.stringify({ ids: ['many/a', 'many/c', 'many/b'] }),
    )
    expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    expect(text).toContain('é\\u2028')
    const etag = expect.stringMatching(/^"[\w-]{8}"$/)
    expect(
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { id: 'many/a', found: true, etag, value: 'text é\u2028' },
      { id: 'many/c', found: false },
      { id: 'many/b', found: true, etag, valueBase64: '/w==', expiresAt: expect.any(Number) },
    ])
  })

  it.each([
    ['', 'KEYS_INVALID'],
    ['{', 'KEYS_INVALID'],
    ['[]', 'KEYS_INVALID'],
    ['{"ids":[]}', 'KEYS_INVALID'],
    ['{"ids":[""]}', 'KEYS_INVALID'],
    ['{"ids":[1]}', 'KEYS_INVALID'],
    ['{"ids":["\\ud800"]}', 'KEYS_INVALID'],
    ['{"ids":["a"],"more":1}', 'KEYS_INVALID'],
    [JSON.stringify({ ids: ['é'.repeat(513)] }), 'KEY_TOO_LARGE'],
    [JSON.stringify({ ids: Array.from({ length: 10_001 }, () => 'a') }), 'KEYS_TOO_LARGE'],
    [' '.repeat(1_048_577), 'KEYS_TOO_LARGE'],
  ])('refuses the body %.40s', async (body, code) => {
    expect((await kv.request('POST', URL, body)).code).toBe(code)
  })

  it('refuses any query string', async () => {
    expect((await kv.request('POST', `${URL}?id=a`, '{"ids":["a"]}')).code).toBe('QUERY_INVALID')
    expect((await kv.request('GET', URL)).code).toBe('METHOD_NOT_ALLOWED')
  })
})

it('returns the values of one moment under concurrent writes', async () => {
  const kv = await startKv()
  onTestFinished(async () => void (await kv.stop()))
  const ids = Array.from({ length: 5_000 }, (_, i) => `k${i}`)
  const putAll = (value: string) => kv.client.batch(ids.map((id) => ({ op: 'put', id, value })))
  await putAll('0')
  let isOver = false
  const writing = (async () => {
    for (let i = 1; !isOver; i++) await putAll(String(i))
  })()
  for (let i = 0; i < 8; i++) {
    const values = (await kv.client.getMany(ids)).map((found) => found!.value.toString())
    expect(new Set(values).size).toBe(1)
  }
  isOver = true
  await writing
})

it('needs only the token for reads', async () => {
  const kv = await startKv({ apiToken: 'change', readToken: 'read' })
  onTestFinished(async () => void (await kv.stop()))
  const get = (token: string | undefined) =>
    kv.request('POST', URL, '{"ids":["a"]}', token === undefined ? {} : { authorization: `Bearer ${token}` })
  expect((await get(undefined)).code).toBe('UNAUTHORIZED')
  expect((await get('other')).code).toBe('UNAUTHORIZED')
  expect((await get('read')).status).toBe(200)
})

it('is refused if its values exceed the budget, and releases its memory', async () => {
  const kv = await startKv({ clientMemoryLimit: 16_777_216 })
  onTestFinished(async () => void (await kv.stop()))
  await kv.client.put('large', Buffer.alloc(7_000_000, 0xff))
  await kv.client.put('small', 'x')
  expect((await kv.request('POST', URL, '{"ids":["large"]}')).code).toBe('MEMORY_FULL')
  for (let i = 0; i < 50; i++) expect((await kv.request('POST', URL, '{"ids":["small"]}')).status).toBe(200)
})
