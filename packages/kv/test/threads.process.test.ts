import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startKv, type TestKv } from './support/kv.ts'

const CLOSE_HEADERS = { connection: 'close' }

describe('three threads', () => {
  let kv: TestKv
  beforeEach(async () => {
    kv = await startKv({ threads: 3 })
  })
  afterEach(() => kv.stop())

  it('a read on any thread sees a write that another thread has acknowledged', async () => {
    for (let round = 0; round < 10; round++) {
      await kv.request('PUT', '/v0/entity?id=k', String(round), CLOSE_HEADERS)
      const reads = await Promise.all(
        Array.from({ length: 12 }, () => kv.request('GET', '/v0/entity?id=k', undefined, CLOSE_HEADERS)),
      )
      expect(reads.map(({ text }) => text)).toEqual(Array.from({ length: 12 }, () => String(round)))
    }
  })

  it('let one of many concurrent creations of a key succeed, among plain writes', async () => {
    for (let round = 0; round < 5; round++) {
      const results = await Promise.all(
        Array.from({ length: 24 }, (_, i) =>
          kv.request('PUT', `/v0/entity?id=r${round}`, String(i), { ...CLOSE_HEADERS, 'if-none-match': '*' }),
        ),
      )
      expect(results.filter(({ status }) => status === 201)).toHaveLength(1)
      const hasWon = results.findIndex(({ status }) => status === 201)
      expect((await kv.request('GET', `/v0/entity?id=r${round}`)).text).toBe(String(hasWon))
    }
  })

  it('lose no concurrent compare-and-swap', async () => {
    await kv.client.put('n', '0')
    async function add(): Promise<void> {
      for (;;) {
        const { headers, text } = await kv.request('GET', '/v0/entity?id=n', undefined, CLOSE_HEADERS)
        const swap = { ...CLOSE_HEADERS, 'if-match': headers.get('etag')! }
        if ((await kv.request('PUT', '/v0/entity?id=n', String(Number(text) + 1), swap)).status === 201) return
      }
    }
    await Promise.all(Array.from({ length: 12 }, add))
    expect((await kv.client.get('n'))!.value.toString()).toBe('12')
  })
})

it('a memory store refuses several threads', async () => {
  await expect(startKv({ store: 'memory', threads: 2 })).rejects.toMatchObject({ code: 'SINGLE_THREAD' })
})
