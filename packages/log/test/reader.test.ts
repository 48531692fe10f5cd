import { until } from '@influencer-stats/runtime/testing/until'
import { expect, it, onTestFinished } from 'vitest'
import { createReader, type Reader } from '../src/jetstream/reader.ts'

const AT = '2026-11-22T12:00:00.000Z'

interface Stored {
  readonly seq: number
  readonly timestamp: string
  readonly data: Uint8Array
}

/** A reader, and a stream whose servers say what a test has them say. @param end of the stream, as one tells it that is not believed */
function reading(end?: number) {
  let told = 0
  const got: number[] = []
  const fatal: (string | undefined)[] = []
  const asked: { seq: number; answer(stored: readonly Stored[]): void; fail(): void }[] = []
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
        const { promise, resolve, reject } = Promise.withResolvers<readonly Stored[]>()
        asked.push({ seq, answer: resolve, fail: () => reject(new Error('away')) })
        return promise
      },
    },
  }
  const reader: Reader = createReader({
    nc: nc as never,
    jsm: jsm as never,
    stream: 's',
    from: 1,
    onMessages: (messages) => void got.push(...messages.map(({ seq }) => seq)),
    onInfo: () => (told++, false),
    onKnown() {},
    onFatal: (error) => void fatal.push((error as { code?: string }).code),
  })
  onTestFinished(() => reader.close())
  const tell = (...seqs: number[]) => {
    for (const seq of seqs) {
      const headers = new Map([
        ['Nats-Sequence', String(seq)],
        ['Nats-Time-Stamp', AT],
      ])
      live(null, { headers, data: new Uint8Array(1) })
    }
  }
  return { reader, got, fatal, asked, tell, told: () => told }
}

const stored = (...seqs: number[]): Stored[] => seqs.map((seq) => ({ seq, timestamp: AT, data: new Uint8Array(1) }))

it('hands over what comes live, in its order and once, and fetches what was missed', async () => {
  const { got, asked, tell } = reading()
  tell(1, 2, 2, 1, 3)
  expect(got).toEqual([1, 2, 3])
  tell(6, 7)
  expect(got).toEqual([1, 2, 3])
  await until(() => asked.length === 1)
  expect(asked[0]!.seq).toBe(4)
  // What comes meanwhile is kept.
  tell(8)
  asked[0]!.answer(stored(4, 5))
  await until(() => got.length === 8)
  expect(got).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
})

it('asks again where a server does not have it yet, or is away', async () => {
  const { reader, got, asked } = reading()
  reader.know(2)
  await until(() => asked.length === 1)
  asked[0]!.fail()
  await until(() => asked.length === 2)
  asked[1]!.answer(stored(1))
  await until(() => asked.length === 3)
  expect(asked[2]!.seq).toBe(2)
  asked[2]!.answer([])
  await until(() => asked.length === 4)
  asked[3]!.answer(stored(2))
  await until(() => got.length === 2)
})

it('hands over nothing while it is held, not even what was asked for before, and then all from where it was', async () => {
  const { reader, got, asked, tell } = reading()
  tell(1)
  reader.know(3)
  await until(() => asked.length === 1)
  reader.hold()
  tell(2, 3, 4)
  asked[0]!.answer(stored(2, 3))
  await new Promise((resolve) => setImmediate(resolve))
  expect(got).toEqual([1])
  reader.release()
  await until(() => asked.length === 2)
  expect(asked[1]!.seq).toBe(2)
  asked[1]!.answer(stored(2, 3, 4))
  await until(() => got.length === 4)
  expect(got).toEqual([1, 2, 3, 4])
})

it('goes no further where the log begins behind what is next', async () => {
  const { reader, got, fatal, asked } = reading()
  reader.know(9)
  await until(() => asked.length === 1)
  asked[0]!.answer(stored(5, 6))
  await until(() => fatal.length === 1)
  expect([got, fatal]).toEqual([[], ['LOG_TRIMMED']])
})

it('does not take it for known what is not to be believed', async () => {
  const { reader, asked, told } = reading(9)
  await until(() => told() === 2)
  expect([reader.known, asked]).toEqual([0, []])
})
