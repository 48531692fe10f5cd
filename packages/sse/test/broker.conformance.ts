import { afterEach, describe, expect, it } from 'vitest'
import type { Broker, BacklogLimits } from '../src/broker/broker.ts'
import { isClosing, type StreamEntry } from '../src/core/event.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

/** Brokers of several threads, and the entries that each of them delivered. */
export interface BrokerWorld {
  readonly brokers: readonly Broker[]
  readonly delivered: readonly StreamEntry[][]
  close(): Promise<void>
}

const WIDE_LIMITS: BacklogLimits = { values: 100_000, bytes: 100_000_000 }

async function put(broker: Broker, topic: string, value: string): Promise<number> {
  const [seq] = await broker.publish([[topic, value]])
  return seq!
}

/** Tests that every broker must pass. */
export function describeBroker(name: string, open: (lag: BacklogLimits) => Promise<BrokerWorld>): void {
  describe(`broker ${name}`, () => {
    let world: BrokerWorld
    afterEach(() => world.close())

    it('delivers every value to every thread once, in one order, with its acknowledged sequence', async () => {
      world = await open(WIDE_LIMITS)
      const publishedSeqs = await Promise.all(
        Array.from({ length: 500 }, async (_, i) => {
          const broker = world.brokers[i % world.brokers.length]!
          if (i % 7 === 0) await new Promise(setImmediate)
          return [await put(broker, `t${i % 3}`, `v${i}`), `v${i}`] as const
        }),
      )
      await waitUntil(() => world.delivered.every((entries) => entries.length === 500))
      const seqs = world.delivered[0]!.map(({ seq }) => seq)
      expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b))
      for (const entries of world.delivered) expect(entries).toEqual(world.delivered[0])
      const values = world.delivered[0]!.map((entry) => [entry.seq, isClosing(entry) ? '' : entry.value])
      expect(values).toEqual(publishedSeqs.toSorted(([a], [b]) => a - b))
    })

    it('preserves the order of the values of one thread', async () => {
      world = await open(WIDE_LIMITS)
      const { brokers, delivered } = world
      await Promise.all(
        brokers.map((broker, i) => Promise.all(Array.from({ length: 50 }, (_, k) => put(broker, `t${i}`, String(k))))),
      )
      await waitUntil(() => delivered.every((entries) => entries.length === 50 * brokers.length))
      const own = delivered[0]!.flatMap((entry) =>
        !isClosing(entry) && entry.topic === 't0' ? [Number(entry.value)] : [],
      )
      expect(own).toEqual(Array.from({ length: 50 }, (_, k) => k))
    })

    it('delivers a closing after all earlier values', async () => {
      world = await open(WIDE_LIMITS)
      const { brokers, delivered } = world
      const last = await put(brokers[0]!, 't', 'last')
      const closing = await brokers.at(-1)!.closeAll()
      expect(closing).toBeGreaterThan(last)
      const next = await put(brokers[0]!, 't', 'next')
      await waitUntil(() => delivered.every((entries) => entries.length === 3))
      expect(delivered[0]!.map(({ seq }) => seq)).toEqual([last, closing, next])
    })

    it('has the entries of all other threads once it has caught up', async () => {
      world = await open(WIDE_LIMITS)
      const { brokers, delivered } = world
      const seq = await put(brokers[0]!, 't', 'v')
      await waitUntil(() => delivered[0]!.length === 1)
      await brokers.at(-1)!.catchUp()
      expect(delivered.at(-1)!.at(-1)?.seq).toBe(seq)
    })

    it('refuses values while the backlog is full, without a loss of accepted values', async () => {
      world = await open({ values: 10, bytes: 1_000 })
      const { brokers, delivered } = world
      const results = await Promise.allSettled(Array.from({ length: 50 }, (_, i) => put(brokers[0]!, 't', String(i))))
      const refused = results.filter((result) => result.status === 'rejected')
      expect(refused.length).toBeGreaterThan(0)
      for (const { reason } of refused)
        expect(reason).toMatchObject({ code: 'FANOUT_BACKLOG_FULL', headers: { 'retry-after': '1' } })
      await waitUntil(() => delivered.every((entries) => entries.length === 50 - refused.length))
      await put(brokers[0]!, 't', 'x'.repeat(2_000))
      await waitUntil(() => delivered.every((entries) => entries.length === 51 - refused.length))
      await waitUntil(() => put(brokers[0]!, 't', 'again').catch(() => 0))
    })

    it('can be closed twice', async () => {
      world = await open(WIDE_LIMITS)
      await world.brokers[0]!.close()
      await expect(world.brokers[0]!.close()).resolves.toBeUndefined()
    })
  })
}
