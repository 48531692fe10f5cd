import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { createBus, createChannel } from '@influencer-stats/runtime/channel'
import type { StateMachine } from '@influencer-stats/log/log'
import { openLocalLog } from '@influencer-stats/log/local-log'
import type { NatsServer } from '@influencer-stats/log/nats-server'
import { setTimeout as delay } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BacklogLimits } from '../src/broker/broker.ts'
import { AnsweredSeq, isBeforeAnswered } from '../src/broker/answered-seq.ts'
import { openSequencer, type Sequencer, type SequencerOptions } from '../src/broker/sequencer.ts'
import type { StreamEntry, TopicPut } from '../src/core/event.ts'
import type { History } from '../src/history/history.ts'
import { RingHistory } from '../src/history/ring-history.ts'
import { parts } from '../src/parts.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describeBroker, type BrokerWorld } from './broker.conformance.ts'
import { createStreamName, openTestLog } from './support/cluster-nodes.ts'

const wide = { count: 1_000, bytes: 1_000_000, age: 3_600_000, topics: 100, total: 10_000_000 }
const count = () => ({ thread: 0, streams: 0, topics: [], allTopics: 0 })
const largestTopics = () => []

async function openLocal(lag: BacklogLimits): Promise<BrokerWorld> {
  const delivered: StreamEntry[] = []
  const deliver = (entries: readonly StreamEntry[]) => void delivered.push(...entries)
  const broker = await parts.broker.local({
    bus: undefined as never,
    history: new RingHistory(wide),
    backlogLimits: lag,
    sequenceWaitTimeout: 10_000,
    deliver,
    getLargestTopics: largestTopics,
    listSubscriptions: () => [],
    countStreams: count,
  })
  return { brokers: [broker], delivered: [delivered], close: () => broker.close() }
}

type Deliver = (entries: readonly StreamEntry[]) => Promise<unknown>

/** Brokers of one process and the sequencer of its main thread, connected by real message ports. */
async function openProcess(
  threads: number,
  lag: BacklogLimits,
  open: (deliver: Deliver) => Promise<Sequencer>,
): Promise<BrokerWorld> {
  const lines = Array.from({ length: threads }, () => new MessageChannel())
  const main = new Map<string, (...args: any[]) => unknown>()
  const channels = lines.map(({ port1 }) => createChannel(port1, main))
  const answered = new AnsweredSeq()
  const sequencer = await open((entries) => {
    answered.set(entries.at(-1)!.seq)
    return Promise.all(channels.map((channel) => channel.call('deliver', [entries])))
  })
  const { history } = sequencer
  main.set('publish', (puts, bytes) => sequencer.publish(puts, bytes))
  main.set('closeAll', () => sequencer.closeAll())
  main.set('catchUp', () => sequencer.catchUp())
  const delivered: StreamEntry[][] = lines.map(() => [])
  const brokers = await Promise.all(
    lines.map(({ port2 }, i) => {
      const deliver = (entries: readonly StreamEntry[]) => void delivered[i]!.push(...entries)
      return parts.broker.threads({
        bus: createBus(port2) as never,
        history: new RingHistory(wide, history.getState()),
        backlogLimits: lag,
        answered,
        sequenceWaitTimeout: 10_000,
        deliver,
        getLargestTopics: largestTopics,
        listSubscriptions: () => [],
        countStreams: count,
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

/** Opens the sequencer of a standalone service. */
const openStandalone = (backlogLimits: BacklogLimits, deliver: SequencerOptions['deliver'], history: History) =>
  openSequencer({
    backlogLimits,
    isPaced: false,
    deliver,
    sequenceWaitTimeout: 10_000,
    createHistory: () => history,
    openLog: (stateMachine) => openLocalLog({ stateMachine }),
  })

const openThreads = (lag: BacklogLimits) =>
  openProcess(3, lag, (deliver) => openStandalone(lag, deliver, new RingHistory(wide)))

/** A state machine that applies each batch 20 ms late. */
const slowDown = (stateMachine: StateMachine): StateMachine => ({
  getPosition: () => stateMachine.getPosition(),
  snapshot: () => stateMachine.snapshot(),
  restore: (pieces) => stateMachine.restore(pieces),
  async apply(...batch) {
    await delay(20)
    return stateMachine.apply(...batch)
  },
})

/** The brokers of two processes with one log. The second process applies entries late. */
async function openNodes(lag: BacklogLimits): Promise<BrokerWorld> {
  const stream = createStreamName()
  const openNode = (threads: number, wrap: (stateMachine: StateMachine) => StateMachine) =>
    openProcess(threads, lag, (deliver) =>
      openSequencer({
        backlogLimits: lag,
        isPaced: true,
        deliver,
        sequenceWaitTimeout: 10_000,
        createHistory: (state) => new RingHistory(wide, state),
        openLog: (stateMachine) => openTestLog(server.url, stream, wrap(stateMachine)),
      }),
    )
  const nodes = [await openNode(2, (stateMachine) => stateMachine), await openNode(1, slowDown)]
  return {
    brokers: nodes.flatMap(({ brokers }) => brokers),
    delivered: nodes.flatMap(({ delivered }) => delivered),
    close: async () => void (await Promise.all(nodes.map((node) => node.close()))),
  }
}

let server: NatsServer
beforeAll(async () => {
  server = await startTestNatsServer()
})

const OPEN_BROKER: Record<keyof typeof parts.broker, typeof openLocal> = { local: openLocal, threads: openThreads }
for (const name of Object.keys(parts.broker)) describeBroker(name, OPEN_BROKER[name as keyof typeof OPEN_BROKER])
describeBroker('of cluster nodes', openNodes)

describe('the sequencer', () => {
  it('rejects a value that could not be stored, does not deliver it, and continues', async () => {
    const delivered: StreamEntry[] = []
    const history = new RingHistory(wide)
    const append = history.append.bind(history)
    let full = true
    const failing = Object.assign(history, {
      append: async (...given: Parameters<typeof append>) => {
        if (full) throw new Error('disk full')
        append(...given)
      },
    })
    const deliver = (entries: readonly StreamEntry[]) => void delivered.push(...entries)
    const sequencer = await openStandalone({ values: 1, bytes: 1 }, deliver, failing)
    await expect(sequencer.publish([['t', 'lost']], 4)).rejects.toThrow('disk full')
    full = false
    const [seq] = await sequencer.publish([['t', 'stored']], 6)
    expect(delivered).toMatchObject([{ seq, value: 'stored' }])
    expect(sequencer.backlogSize).toBe(0)
  })
})

describe('the sequencer of a cluster node', () => {
  it('applies no more entries than its threads receive, of any node, and refuses values meanwhile', async () => {
    const release = Promise.withResolvers<void>()
    const sequencer = await openSequencer({
      backlogLimits: { values: 3, bytes: 1_000 },
      isPaced: true,
      deliver: () => release.promise,
      sequenceWaitTimeout: 60_000,
      createHistory: (state) => new RingHistory(wide, state),
      openLog: (stateMachine) => openLocalLog({ stateMachine }),
    })
    const put = (...values: string[]) =>
      sequencer.publish(
        values.map((value): TopicPut => ['t', value]),
        values.length,
      )
    expect(await put('1', '2')).toEqual([1, 2])
    let isOut = false
    const held = put('3', '4').finally(() => (isOut = true))
    await waitUntil(() => sequencer.history.seq === 4)
    await expect(put('5')).rejects.toMatchObject({ code: 'FANOUT_BACKLOG_FULL', headers: { 'retry-after': '1' } })
    expect([isOut, sequencer.backlogSize]).toEqual([false, 6])
    release.resolve()
    expect(await held).toEqual([3, 4])
    expect(await put('5')).toEqual([5])
    await sequencer.close()
  })
})

describe('the threads broker', () => {
  it('sends batches of at most 4 MiB to the main thread, and never splits a request', async () => {
    const calls: [puts: number, bytes: number][] = []
    const bus = {
      on() {},
      flush() {},
      async call(_name: string, puts: readonly TopicPut[], bytes: number) {
        calls.push([puts.length, bytes])
        return puts.map((_, i) => 10 * calls.length + i)
      },
    }
    const lag = { values: 100, bytes: 100_000_000 }
    const broker = await parts.broker.threads({
      bus: bus as never,
      history: new RingHistory(wide),
      backlogLimits: lag,
      sequenceWaitTimeout: 10_000,
      deliver() {},
      getLargestTopics: largestTopics,
      listSubscriptions: () => [],
      countStreams: count,
    })
    const value = 'x'.repeat(2_000_000)
    const puts = [[value], [value], [value], [value, value, value], ['small']].map((values) =>
      broker.publish(values.map((one): TopicPut => ['t', one])),
    )
    expect(await Promise.all(puts)).toEqual([[10], [11], [20], [30, 31, 32], [40]])
    expect(calls).toEqual([
      [2, 4_000_000],
      [1, 2_000_000],
      [3, 6_000_000],
      [1, 5],
    ])
  })
})

describe('the local broker', () => {
  it('adds a value to the history in the same turn in which it delivers it', async () => {
    const options = { ...wide, folder: createTemporaryFolder(), log: { error() {} } as never }
    const history = await parts.history.level(options)
    const level = history.level!
    const write = level.write.bind(level)
    const release = Promise.withResolvers<void>()
    let delivered = history.seq
    const seen: [kept: number, delivered: number][] = []
    const record = () => seen.push([history.seq, delivered])
    // Records the state that a stream opened after any promise would see.
    async function watch(): Promise<void> {
      for (let i = 0; i < 50; i++) {
        record()
        await undefined
      }
    }
    level.write = async (run: any) => {
      await release.promise
      const result = await write(run)
      void watch()
      return result as never
    }
    const deliver = (entries: readonly StreamEntry[]) => void (delivered = entries.at(-1)!.seq)
    const broker = await parts.broker.local({
      bus: undefined as never,
      history,
      backlogLimits: { values: 100, bytes: 1_000 },
      sequenceWaitTimeout: 10_000,
      deliver,
      getLargestTopics: largestTopics,
      listSubscriptions: () => [],
      countStreams: count,
    })
    const put = broker.publish([['t', 'v']]).then(([seq]) => seq!)
    // The write is pending.
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    record()
    release.resolve()
    const seq = await put
    record()
    await broker.close()
    expect(seen[0]).toEqual([seq - 1, seq - 1])
    expect(seen.at(-1)).toEqual([seq, seq])
    for (const [state, delivered] of seen) expect(state).toBe(delivered)
  })
})

describe('broker threads', () => {
  it('has every answered value of the process once it has received what is answered', async () => {
    const { brokers, delivered, close } = await openThreads({ values: 1_000, bytes: 1_000_000 })
    for (let i = 0; i < 50; i++) {
      const [seq] = await brokers[i % 3]!.publish([['t', String(i)]])
      await Promise.all(brokers.map((broker) => broker.receiveAnswered()))
      expect(delivered.map((entries) => entries.at(-1)!.seq)).toEqual([seq, seq, seq])
    }
    await close()
  })

  it('compares positions also if they exceed 32 bits', () => {
    const answered = new AnsweredSeq()
    for (const base of [0, 2 ** 31, 2 ** 32, 2 ** 40]) {
      answered.set(base + 5)
      expect([4, 5, 6].map((seq) => isBeforeAnswered(base + seq, answered.get()))).toEqual([true, false, false])
    }
  })
})
