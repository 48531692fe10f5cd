import { until } from '@influencer-stats/runtime/testing/until'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Sent } from '../src/jetstream/sender.ts'
import { Writer } from '../src/jetstream/writer.ts'
import { Joiner, type PlacedFrame } from '../src/order/joiner.ts'

const NOT_SENT: Sent = { kind: 'not-sent', cause: undefined }
const UNKNOWN: Sent = { kind: 'unknown', cause: undefined }
const stored = (seq: number): Sent => ({ kind: 'stored', seq })

/** A writer, and what becomes of each attempt; the last one stays. */
function writing(answers: Sent[], timeout = 100, viewTimeout?: number) {
  const frames: PlacedFrame[] = []
  const writer = new Writer({
    maxMessage: 1_000,
    maxFrame: 10_000,
    timeout,
    viewTimeout,
    isUp: () => true,
    async send(parts) {
      const joiner = new Joiner()
      const frame = parts.map((data, i) => joiner.take({ seq: i, at: 0, data })).at(-1)!
      frames.push({ ...frame, seq: frames.length + 1 })
      return answers.length > 1 ? answers.shift()! : answers[0]!
    },
    onStored() {},
  })
  onTestFinished(() => writer.close())
  const append = (text: string) => writer.append({ kind: 1, term: 0, body: Buffer.from(text) })
  /** As if the log had it and the view had applied it. */
  const applied = (frame: PlacedFrame) =>
    writer.applied(
      frame,
      frame.entries.map(({ kind, body }) => ({ kind: 'applied', entry: { seq: frame.seq, at: 0, kind, body } })),
      frame.entries.map(({ body }) => String(body)),
    )
  return { writer, frames, append, applied }
}

it('sends a frame again as it was, until it is acknowledged', async () => {
  const { frames, append, applied } = writing([UNKNOWN, NOT_SENT, UNKNOWN, stored(1)], 10_000)
  const done = append('a')
  await until(() => frames.length === 4)
  expect(new Set(frames.map(({ writer, number }) => `${writer}.${number}`)).size).toBe(1)
  applied(frames[3]!)
  expect(await done).toEqual({ seq: 4, outcome: 'a' })
})

it('takes another name after what is not known: nothing that follows may hang on it', async () => {
  const answers: Sent[] = [UNKNOWN]
  const { frames, append, applied } = writing(answers)
  await expect(append('a')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  const { writer: name } = frames[0]!
  answers[0] = stored(9)
  const sent = frames.length
  const done = append('b')
  await until(() => frames.length > sent)
  const last = frames.at(-1)!
  expect(last.writer).not.toBe(name)
  expect(last.number).toBe(1)
  applied(last)
  expect(await done).toMatchObject({ outcome: 'b' })
})

it('keeps its name and gives the number again after what was never sent', async () => {
  const answers: Sent[] = [NOT_SENT]
  const { frames, append, applied } = writing(answers)
  await expect(append('a')).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  const first = frames[0]!
  answers[0] = stored(9)
  const sent = frames.length
  const done = append('b')
  await until(() => frames.length > sent)
  expect(frames.at(-1)).toMatchObject({ writer: first.writer, number: first.number })
  applied(frames.at(-1)!)
  await done
})

it('sends what does not count again, by another name; a copy is no matter', async () => {
  const { writer, frames, append, applied } = writing([stored(1)], 10_000)
  const first = append('a')
  await until(() => frames.length === 1)
  applied(frames[0]!)
  await first
  writer.refused(frames[0]!)
  const second = append('b')
  await until(() => frames.length === 2)
  expect(frames[1]).toMatchObject({ writer: frames[0]!.writer, number: 2 })
  // It was forgotten meanwhile.
  writer.refused(frames[1]!)
  await until(() => frames.length === 3)
  expect(frames[2]!.writer).not.toBe(frames[0]!.writer)
  expect(frames[2]!.number).toBe(1)
  applied(frames[2]!)
  expect(await second).toEqual({ seq: 3, outcome: 'b' })
})

it('has one frame under way; what comes meanwhile is the next', async () => {
  const { frames, append, applied } = writing([stored(1)], 10_000)
  const first = [append('a'), append('b')]
  await until(() => frames.length === 1)
  const next = ['c', 'd', 'e'].map(append)
  applied(frames[0]!)
  await Promise.all(first)
  await until(() => frames.length === 2)
  expect(frames.map(({ entries }) => entries.map(({ body }) => String(body)))).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ])
  applied(frames[1]!)
  await Promise.all(next)
})

it('puts into one frame what fits into one message', async () => {
  const { frames, append, applied } = writing([stored(1)], 10_000)
  const done = [...Array.from({ length: 9 }, (_, i) => append(String(i).repeat(300))), append('x'.repeat(2_000))]
  for (let i = 0; i < 4; i++) {
    await until(() => frames.length > i)
    applied(frames[i]!)
  }
  await Promise.all(done)
  expect(frames.map(({ entries }) => entries.map(({ body }) => body.length))).toEqual([
    [300, 300, 300],
    [300, 300, 300],
    [300, 300, 300],
    [2_000],
  ])
})

it('waits longer for the view where that may take its time, and no longer for the log', async () => {
  const slow = writing([stored(1)], 1_000, 60_000)
  const done = slow.append('a')
  await until(() => slow.frames.length === 1)
  const unsent = writing([NOT_SENT], 1_000, 60_000)
  await expect(unsent.append('c')).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  slow.applied(slow.frames[0]!)
  expect(await done).toMatchObject({ outcome: 'a' })
})

it('says of what was stored and not applied in time that it is not known', async () => {
  const { append } = writing([stored(1)])
  await expect(append('a')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
})

describe('gathers', () => {
  const FLIGHT = 20

  /** A writer whose frames take so long to be acknowledged (ms, of a clock that stands still until it is put forward). */
  function flying() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const sent: { texts: string[]; done(): void }[] = []
    const writer = new Writer({
      maxMessage: 100_000,
      maxFrame: 100_000,
      timeout: 10_000,
      isUp: () => true,
      async send(parts) {
        const frame = { ...new Joiner().take({ seq: sent.length + 1, at: 0, data: parts[0]! })! }
        const flight = Promise.withResolvers<Sent>()
        sent.push({
          texts: frame.entries.map(({ body }) => String(body)),
          done() {
            flight.resolve(stored(frame.seq))
            writer.applied(
              frame,
              frame.entries.map(() => ({ kind: 'fenced' })),
              [],
            )
          },
        })
        return flight.promise
      },
      onStored() {},
    })
    onTestFinished(() => writer.close())
    const appendFor = (waiting: number, text: string) => {
      writer.append({ kind: 1, term: 0, body: Buffer.from(text) }, waiting).catch(() => {})
    }
    const append = (...texts: string[]) => {
      for (const text of texts) appendFor(1, text)
    }
    /** Has the loop do what there is to do. */
    const settle = async () => {
      for (let i = 0; i < 10; i++) await turn()
    }
    /** Of the newest frame. */
    async function fly() {
      await settle()
      vi.advanceTimersByTime(FLIGHT)
      sent.at(-1)!.done()
      await settle()
    }
    const pass = (ms: number) => (vi.advanceTimersByTime(ms), settle())
    return { writer, append, appendFor, fly, pass, settle, texts: () => sent.map(({ texts }) => texts.join('')) }
  }

  it('those who were answered and those who came meanwhile, into one frame', async () => {
    const { append, fly, pass, settle, texts } = flying()
    append('a')
    await settle()
    append('b', 'c', 'd')
    await fly()
    await pass(FLIGHT / 4)
    expect(texts()).toEqual(['a'])
    append('a')
    await settle()
    expect(texts()).toEqual(['a', 'bcda'])
    await fly()
    // Nobody else is there to begin with, and they stay together.
    for (const one of 'abcd') {
      append(one)
      await settle()
    }
    expect(texts()).toEqual(['a', 'bcda', 'abcd'])
  })

  it('no longer than the frame before took', async () => {
    const { append, fly, pass, settle, texts } = flying()
    append('a', 'b')
    await settle()
    append('c')
    await fly()
    await pass(FLIGHT - 1)
    expect(texts()).toEqual(['ab'])
    await pass(1)
    expect(texts()).toEqual(['ab', 'c'])
  })

  it('those who were answered, when the first of them comes back later than the frame took', async () => {
    const { append, fly, pass, settle, texts } = flying()
    append('a', 'b', 'c', 'd')
    await fly()
    await pass(2 * FLIGHT)
    for (const one of 'abcd') {
      expect(texts()).toEqual(['abcd'])
      append(one)
      await settle()
    }
    expect(texts()).toEqual(['abcd', 'abcd'])
  })

  it('as many as wait, be it for one entry', async () => {
    const { append, appendFor, fly, settle, texts } = flying()
    appendFor(10, 'a')
    await fly()
    append('b')
    await settle()
    expect(texts()).toEqual(['a'])
    appendFor(8, 'c')
    await settle()
    expect(texts()).toEqual(['a', 'bc'])
  })

  it('nobody who has been away for long', async () => {
    const { append, fly, pass, settle, texts } = flying()
    append('a', 'b')
    await fly()
    await pass(1_000)
    append('a')
    await settle()
    expect(texts()).toEqual(['ab', 'a'])
  })

  it('nobody for one who is alone', async () => {
    const { append, fly, settle, texts } = flying()
    // What follows is less.
    for (const one of ['a'.repeat(100), 'b', 'c']) {
      append(one)
      await settle()
      expect(texts().at(-1)).toBe(one)
      await fly()
    }
  })

  it('until it is closed', async () => {
    const { writer, append, fly, settle } = flying()
    append('a', 'b')
    await settle()
    append('c')
    await fly()
    await writer.close()
  })
})
