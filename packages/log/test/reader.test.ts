import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { createLogReader, type LogReader } from '../src/jetstream/reader.ts'

const TIMESTAMP = '2026-11-22T12:00:00.000Z'

interface StoredMessage {
  readonly seq: number
  readonly timestamp: string
  readonly data: Uint8Array
}

/** Starts a reader on a stream that a test controls. @param end of the stream, from a server without a quorum */
function startReader(end?: number) {
  let infoCount = 0
  const received: number[] = []
  const fatal: (string | undefined)[] = []
  const fetches: { seq: number; respond(toStored: readonly StoredMessage[]): void; fail(): void }[] = []
  let live: (error: null, message: object) => void = () => {}
  const nc = {
    subscribe(_: string, { callback }: { callback: typeof live }) {
      live = callback
      return { unsubscribe() {} }
    },
  }
  const jsm = {
    streams: {
      info: () =>
        end === undefined ? Promise.reject(new Error('away')) : Promise.resolve({ state: { last_seq: end } }),
    },
    direct: {
      getBatch(_: string, { seq }: { seq: number }) {
        const { promise, resolve, reject } = Promise.withResolvers<readonly StoredMessage[]>()
        fetches.push({ seq, respond: resolve, fail: () => reject(new Error('away')) })
        return promise
      },
    },
  }
  const reader: LogReader = createLogReader({
    nc: nc as never,
    jsm: jsm as never,
    stream: 's',
    from: 1,
    onMessages: (messages) => void received.push(...messages.map(({ seq }) => seq)),
    onInfo: () => (infoCount++, false),
    onKnown() {},
    onMissing() {},
    onFatal: (error) => void fatal.push((error as { code?: string }).code),
  })
  onTestFinished(() => reader.close())
  const publish = (...seqs: number[]) => {
    for (const seq of seqs) {
      const headers = new Map([
        ['Nats-Sequence', String(seq)],
        ['Nats-Time-Stamp', TIMESTAMP],
      ])
      live(null, { headers, data: new Uint8Array(1) })
    }
  }
  return { reader, received, fatal, fetches, publish, infoCount: () => infoCount }
}

const toStored = (...seqs: number[]): StoredMessage[] =>
  seqs.map((seq) => ({ seq, timestamp: TIMESTAMP, data: new Uint8Array(1) }))

it('delivers live messages in order and once, and fetches the missing ones', async () => {
  const { received, fetches, publish } = startReader()
  publish(1, 2, 2, 1, 3)
  expect(received).toEqual([1, 2, 3])
  publish(6, 7)
  expect(received).toEqual([1, 2, 3])
  await waitUntil(() => fetches.length === 1)
  expect(fetches[0]!.seq).toBe(4)
  // Messages that arrive meanwhile wait in memory.
  publish(8)
  fetches[0]!.respond(toStored(4, 5))
  await waitUntil(() => received.length === 8)
  expect(received).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
})

it('fetches again if a server does not have a message yet or is unavailable', async () => {
  const { reader, received, fetches } = startReader()
  reader.setKnown(2)
  await waitUntil(() => fetches.length === 1)
  fetches[0]!.fail()
  await waitUntil(() => fetches.length === 2)
  fetches[1]!.respond(toStored(1))
  await waitUntil(() => fetches.length === 3)
  expect(fetches[2]!.seq).toBe(2)
  fetches[2]!.respond([])
  await waitUntil(() => fetches.length === 4)
  fetches[3]!.respond(toStored(2))
  await waitUntil(() => received.length === 2)
})

it('delivers no message while it is paused, even from an earlier fetch, and then all from its position', async () => {
  const { reader, received, fetches, publish } = startReader()
  publish(1)
  reader.setKnown(3)
  await waitUntil(() => fetches.length === 1)
  reader.pause()
  publish(2, 3, 4)
  fetches[0]!.respond(toStored(2, 3))
  await new Promise((resolve) => setImmediate(resolve))
  expect(received).toEqual([1])
  reader.resume()
  await waitUntil(() => fetches.length === 2)
  expect(fetches[1]!.seq).toBe(2)
  fetches[1]!.respond(toStored(2, 3, 4))
  await waitUntil(() => received.length === 4)
  expect(received).toEqual([1, 2, 3, 4])
})

it('stops if the next message was trimmed', async () => {
  const { reader, received, fatal, fetches } = startReader()
  reader.setKnown(9)
  await waitUntil(() => fetches.length === 1)
  fetches[0]!.respond(toStored(5, 6))
  await waitUntil(() => fatal.length === 1)
  expect([received, fatal]).toEqual([[], ['LOG_TRIMMED']])
})

it('ignores the end of the stream without a quorum', async () => {
  const { reader, fetches, infoCount: told } = startReader(9)
  await waitUntil(() => told() === 2)
  expect([reader.known, fetches]).toEqual([0, []])
})
