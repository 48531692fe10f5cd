import { openRawClient, formatRequest } from '@influencer-stats/runtime/testing/raw-client'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { TopK } from '../src/core/top-k.ts'
import { startSse, type TestSse } from './support/test-sse.ts'

const topic = (n: number) => `${n}`.padStart(200, 'x')

/** Opens streams with 16 topics each that no other stream has. */
async function openStreams(sse: TestSse, streams: number): Promise<void> {
  const queries = Array.from({ length: streams }, (_, i) =>
    Array.from({ length: 16 }, (_, k) => `topic=${topic(16 * i + k)}`).join('&'),
  )
  await Promise.all(queries.map((query) => sse.open(`?${query}`)))
}

describe('a request for the connections', () => {
  it.each(['local', 'threads'] as const)(
    'returns the largest topics, and the number of other streams: %s',
    async (broker) => {
      const sse = await startSse({ broker, threads: broker === 'threads' ? 2 : 1 })
      await openStreams(sse, 80)
      for (const n of [1_279, 1_279, 1_279, 1_278, 1_278, 3]) await sse.open(`?topic=${topic(n)}`)
      const { body } = await sse.request('GET', '/connections')
      expect(body.streams).toBe(86)
      expect(body.topics).toHaveLength(1_000)
      expect(body.topics.slice(0, 4)).toEqual([
        { topic: topic(1_279), streams: 4 },
        { topic: topic(1_278), streams: 3 },
        { topic: topic(3), streams: 2 },
        { topic: expect.any(String), streams: 1 },
      ])
      expect(body.others).toBe(280)
      // A scrape does not wait long for a busy thread, so it may show fewer.
      await waitUntil(async () => (await sse.readMetric('sse_topic_streams{topic="(others)"}')) === 1_286)
    },
  )

  it.each(['local', 'threads'])('shares its result with concurrent requests: %s', async (broker) => {
    const looks = vi.spyOn(TopK.prototype, 'largest')
    onTestFinished(() => looks.mockRestore())
    const sse = await startSse({ broker, threads: 0 })
    await openStreams(sse, 80)
    const client = await openRawClient(sse.port)
    looks.mockClear()
    // The server reads more requests of a connection only after 64 have been answered.
    client.send(formatRequest('GET', '/connections').repeat(60))
    for (let i = 0; i < 60; i++) expect(JSON.parse((await client.reply()).body).streams).toBe(80)
    // All requests share the first result, or the others share the next one.
    expect([1, 2]).toContain(looks.mock.calls.length)
  })
})

describe('the largest counts', () => {
  it('are those of sorted counts', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    const change = fc.tuple(name, fc.constantFrom(1 as const, -1 as const))
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), fc.nat(6), (changes, max) => {
        const ranking = new TopK()
        const counts = new Map<string, number>()
        for (const [one, by] of changes) {
          const after = (counts.get(one) ?? 0) + by
          if (after < 0) continue
          ranking.add(one, by)
          counts.set(one, after)
        }
        const sorted = [...counts.values()].filter((count) => count > 0).sort((a, b) => b - a)
        const largest = ranking.largest(max)
        expect(new Set(largest).size).toBe(largest.length)
        expect(largest.map((one) => ranking.getCount(one))).toEqual(sorted.slice(0, max))
        expect(ranking.total).toBe(sorted.reduce((sum, count) => sum + count, 0))
      }),
    )
  })
})
