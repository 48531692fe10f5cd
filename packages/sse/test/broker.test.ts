import { createBus, createChannel } from '@influencer-stats/runtime/channel'
import { MessageChannel } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import type { LagLimits } from '../src/broker/broker.ts'
import { Sequencer } from '../src/broker/sequencer.ts'
import type { Entry } from '../src/core/event.ts'
import { Ring } from '../src/history/ring.ts'
import { parts } from '../src/parts.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { brokerConformance, type BrokerWorld } from './broker.conformance.ts'

const wide = { count: 1_000, bytes: 1_000_000, age: 3_600_000, topics: 100, total: 10_000_000 }
const count = () => ({ thread: 0, streams: 0, topics: [], allTopics: 0 })
const largestTopics = () => []

async function openLocal(lag: LagLimits): Promise<BrokerWorld> {
  const delivered: Entry[] = []
  const deliver = (entries: readonly Entry[]) => void delivered.push(...entries)
  const broker = await parts.broker.local({
    bus: undefined as never,
    history: new Ring(wide),
    lag,
    deliver,
    largestTopics,
    count,
  })
  return { brokers: [broker], delivered: [delivered], close: () => broker.close() }
}

/** Three brokers with main's side, joined by real message ports. */
async function openThreads(lag: LagLimits): Promise<BrokerWorld> {
  const history = new Ring(wide)
  const lines = Array.from({ length: 3 }, () => new MessageChannel())
  const main = new Map<string, (...args: any[]) => unknown>()
  const channels = lines.map(({ port1 }) => createChannel(port1, main))
  const sequencer = new Sequencer({
    history,
    lag,
    deliver: async (entries) => void (await Promise.all(channels.map((channel) => channel.call('deliver', [entries])))),
  })
  main.set('publish', (puts) => sequencer.publish(puts))
  main.set('closeAll', () => sequencer.closeAll())
  main.set('catchUp', () => {})
  const delivered: Entry[][] = lines.map(() => [])
  const brokers = await Promise.all(
    lines.map(({ port2 }, i) => {
      const deliver = (entries: readonly Entry[]) => void delivered[i]!.push(...entries)
      return parts.broker.threads({
        bus: createBus(port2) as never,
        history: new Ring(wide, history.kept()),
        lag,
        deliver,
        largestTopics,
        count,
      })
    }),
  )
  return {
    brokers,
    delivered,
    async close() {
      await Promise.all(brokers.map((broker) => broker.close()))
      await sequencer.close()
      for (const { port1 } of lines) port1.close()
    },
  }
}

const OPEN: Record<keyof typeof parts.broker, typeof openLocal> = { local: openLocal, threads: openThreads }
for (const name of Object.keys(parts.broker)) brokerConformance(name, OPEN[name as keyof typeof OPEN])

describe('the sequencer', () => {
  it('tells who put a value that could not be kept, delivers it to nobody, and goes on', async () => {
    const delivered: Entry[] = []
    const history = new Ring(wide)
    const append = history.append.bind(history)
    let full = true
    const failing = Object.assign(history, {
      append: async (...given: Parameters<typeof append>) => {
        if (full) throw new Error('disk full')
        append(...given)
      },
    })
    const deliver = (entries: readonly Entry[]) => void delivered.push(...entries)
    const sequencer = new Sequencer({ history: failing, lag: { values: 1, bytes: 1 }, deliver })
    await expect(sequencer.publish([['t', 'lost']])).rejects.toThrow()
    full = false
    const [seq] = await sequencer.publish([['t', 'kept']])
    expect(delivered).toMatchObject([{ seq, value: 'kept' }])
    expect(sequencer.lag).toBe(0)
  })
})

describe('the local broker', () => {
  it('gives a value its place in the history in the moment in which it is delivered', async () => {
    const options = { ...wide, folder: temporaryFolder(), log: { error() {} } as never }
    const history = await parts.history.level(options)
    const level = history.level!
    const write = level.write.bind(level)
    const release = Promise.withResolvers<void>()
    let delivered = history.seq
    const seen: [kept: number, delivered: number][] = []
    const look = () => seen.push([history.seq, delivered])
    // What a stream that is opened after any promise would find.
    async function watch(): Promise<void> {
      for (let i = 0; i < 50; i++) {
        look()
        await undefined
      }
    }
    level.write = async (run: any) => {
      await release.promise
      const result = await write(run)
      void watch()
      return result as never
    }
    const deliver = (entries: readonly Entry[]) => void (delivered = entries.at(-1)!.seq)
    const broker = await parts.broker.local({
      bus: undefined as never,
      history,
      lag: { values: 100, bytes: 1_000 },
      deliver,
      largestTopics,
      count,
    })
    const put = broker.publish('t', 'v')
    // The write is on its way.
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    look()
    release.resolve()
    const seq = await put
    look()
    await broker.close()
    expect(seen[0]).toEqual([seq - 1, seq - 1])
    expect(seen.at(-1)).toEqual([seq, seq])
    for (const [kept, told] of seen) expect(kept).toBe(told)
  })
})
