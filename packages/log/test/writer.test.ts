import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SendResult } from '../src/jetstream/sender.ts'
import { LogWriter } from '../src/jetstream/writer.ts'
import { FrameAssembler, type SequencedFrame } from '../src/order/frame-assembler.ts'

const NOT_SENT_RESULT: SendResult = { kind: 'not-sent', cause: undefined }
const UNKNOWN_RESULT: SendResult = { kind: 'unknown', cause: undefined }
const toStored = (seq: number): SendResult => ({ kind: 'stored', seq })

/** Creates a writer with a result for each attempt; the last one repeats. */
function startWriter(results: SendResult[], timeout = 1_000, applyTimeout?: number) {
  const frames: SequencedFrame[] = []
  const writer = new LogWriter({
    maxMessageBytes: 1_000,
    maxFrameBytes: 10_000,
    timeout,
    applyTimeout,
    isUp: () => true,
    async send(parts) {
      const assembler = new FrameAssembler()
      const frame = parts.map((data, i) => assembler.addMessage({ seq: i, at: 0, data })).at(-1) as SequencedFrame
      frames.push({ ...frame, seq: frames.length + 1 })
      return results.length > 1 ? results.shift()! : results[0]!
    },
    onStored() {},
  })
  onTestFinished(() => writer.close())
  const append = (text: string) => writer.append({ kind: 1, term: 0, body: Buffer.from(text) })
  /** Simulates that the log has stored a frame and the node has applied it. */
  const markApplied = (frame: SequencedFrame) =>
    writer.onApplied(
      frame,
      frame.entries.map(({ kind, body }) => ({ kind: 'applied', entry: { seq: frame.seq, at: 0, kind, body } })),
      frame.entries.map(({ body }) => String(body)),
    )
  return { writer, frames, append, markApplied }
}

it('sends a frame again unchanged until it is acknowledged', async () => {
  const { frames, append, markApplied } = startWriter(
    [UNKNOWN_RESULT, NOT_SENT_RESULT, UNKNOWN_RESULT, toStored(1)],
    10_000,
  )
  const complete = append('a')
  await waitUntil(() => frames.length === 4)
  expect(new Set(frames.map(({ writer, number }) => `${writer}.${number}`)).size).toBe(1)
  markApplied(frames[3]!)
  expect(await complete).toEqual({ seq: 4, outcome: 'a' })
})

it('takes another writer id after an unknown outcome, so that later frames do not depend on it', async () => {
  const results: SendResult[] = [UNKNOWN_RESULT]
  const { frames, append, markApplied } = startWriter(results)
  await expect(append('a')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  const { writer: name } = frames[0]!
  results[0] = toStored(9)
  const sent = frames.length
  const complete = append('b')
  await waitUntil(() => frames.length > sent)
  const last = frames.at(-1)!
  expect(last.writer).not.toBe(name)
  expect(last.number).toBe(1)
  markApplied(last)
  expect(await complete).toMatchObject({ outcome: 'b' })
})

it('keeps its writer id and reuses the number of a frame that was never sent', async () => {
  const results: SendResult[] = [NOT_SENT_RESULT]
  const { frames, append, markApplied } = startWriter(results)
  await expect(append('a')).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  const first = frames[0]!
  results[0] = toStored(9)
  const sent = frames.length
  const complete = append('b')
  await waitUntil(() => frames.length > sent)
  expect(frames.at(-1)).toMatchObject({ writer: first.writer, number: first.number })
  markApplied(frames.at(-1)!)
  await complete
})

it('sends a frame that does not count again with another writer id, and ignores a copy', async () => {
  const { writer, frames, append, markApplied } = startWriter([toStored(1)], 10_000)
  const first = append('a')
  await waitUntil(() => frames.length === 1)
  markApplied(frames[0]!)
  await first
  writer.onIgnored(frames[0]!)
  const second = append('b')
  await waitUntil(() => frames.length === 2)
  expect(frames[1]).toMatchObject({ writer: frames[0]!.writer, number: 2 })
  // The writer has expired meanwhile.
  writer.onIgnored(frames[1]!)
  await waitUntil(() => frames.length === 3)
  expect(frames[2]!.writer).not.toBe(frames[0]!.writer)
  expect(frames[2]!.number).toBe(1)
  markApplied(frames[2]!)
  expect(await second).toEqual({ seq: 3, outcome: 'b' })
})

it('has one frame in flight; entries that arrive meanwhile form the next', async () => {
  const { frames, append, markApplied } = startWriter([toStored(1)], 10_000)
  const first = [append('a'), append('b')]
  await waitUntil(() => frames.length === 1)
  const next = ['c', 'd', 'e'].map(append)
  markApplied(frames[0]!)
  await Promise.all(first)
  await waitUntil(() => frames.length === 2)
  expect(frames.map(({ entries }) => entries.map(({ body }) => String(body)))).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ])
  markApplied(frames[1]!)
  await Promise.all(next)
})

it('puts entries into one frame while they fit into one message', async () => {
  const { frames, append, markApplied } = startWriter([toStored(1)], 10_000)
  const complete = [...Array.from({ length: 9 }, (_, i) => append(String(i).repeat(300))), append('x'.repeat(2_000))]
  for (let i = 0; i < 4; i++) {
    await waitUntil(() => frames.length > i)
    markApplied(frames[i]!)
  }
  await Promise.all(complete)
  expect(frames.map(({ entries }) => entries.map(({ body }) => body.length))).toEqual([
    [300, 300, 300],
    [300, 300, 300],
    [300, 300, 300],
    [2_000],
  ])
})

it('waits for the state machine up to `applyTimeout`, and for the log up to `timeout`', async () => {
  const slow = startWriter([toStored(1)], 1_000, 60_000)
  const complete = slow.append('a')
  await waitUntil(() => slow.frames.length === 1)
  const unsent = startWriter([NOT_SENT_RESULT], 1_000, 60_000)
  await expect(unsent.append('c')).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  slow.markApplied(slow.frames[0]!)
  expect(await complete).toMatchObject({ outcome: 'a' })
})

it('reports OUTCOME_UNKNOWN for a stored frame that is not applied in time', async () => {
  const { append } = startWriter([toStored(1)])
  await expect(append('a')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
})

describe('the delay of the next frame', () => {
  const FLIGHT_MS = 20

  /** Starts a writer whose frames are acknowledged after `FLIGHT_MS`, on a fake clock. */
  function startFlyingWriter() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const sent: { texts: string[]; complete(): void }[] = []
    const writer = new LogWriter({
      maxMessageBytes: 100_000,
      maxFrameBytes: 100_000,
      timeout: 10_000,
      isUp: () => true,
      async send(parts) {
        const assembled = new FrameAssembler().addMessage({ seq: sent.length + 1, at: 0, data: parts[0]! })
        const frame = { ...(assembled as SequencedFrame) }
        const flight = Promise.withResolvers<SendResult>()
        sent.push({
          texts: frame.entries.map(({ body }) => String(body)),
          complete() {
            flight.resolve(toStored(frame.seq))
            writer.onApplied(
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
    const appendFor = (waiters: number, text: string) => {
      writer.append({ kind: 1, term: 0, body: Buffer.from(text) }, waiters).catch(() => {})
    }
    const append = (...texts: string[]) => {
      for (const text of texts) appendFor(1, text)
    }
    /** Runs the pending work of the event loop. */
    const settle = async () => {
      for (let i = 0; i < 10; i++) await turn()
    }
    /** Acknowledges the newest frame after its flight time. */
    async function completeNewest() {
      await settle()
      vi.advanceTimersByTime(FLIGHT_MS)
      sent.at(-1)!.complete()
      await settle()
    }
    const advance = (ms: number) => (vi.advanceTimersByTime(ms), settle())
    return {
      writer,
      append,
      appendFor,
      completeNewest,
      advance,
      settle,
      texts: () => sent.map(({ texts }) => texts.join('')),
    }
  }

  it('puts returning and newly queued callers into one frame', async () => {
    const { append, completeNewest, advance, settle, texts } = startFlyingWriter()
    append('a')
    await settle()
    append('b', 'c', 'd')
    await completeNewest()
    await advance(FLIGHT_MS / 4)
    expect(texts()).toEqual(['a'])
    append('a')
    await settle()
    expect(texts()).toEqual(['a', 'bcda'])
    await completeNewest()
    // No other caller is queued, and the callers remain in one frame.
    for (const one of 'abcd') {
      append(one)
      await settle()
    }
    expect(texts()).toEqual(['a', 'bcda', 'abcd'])
  })

  it('lasts no longer than the previous frame took', async () => {
    const { append, completeNewest, advance, settle, texts } = startFlyingWriter()
    append('a', 'b')
    await settle()
    append('c')
    await completeNewest()
    await advance(FLIGHT_MS - 1)
    expect(texts()).toEqual(['ab'])
    await advance(1)
    expect(texts()).toEqual(['ab', 'c'])
  })

  it('applies if the first caller returns later than the frame took', async () => {
    const { append, completeNewest, advance, settle, texts } = startFlyingWriter()
    append('a', 'b', 'c', 'd')
    await completeNewest()
    await advance(2 * FLIGHT_MS)
    for (const one of 'abcd') {
      expect(texts()).toEqual(['abcd'])
      append(one)
      await settle()
    }
    expect(texts()).toEqual(['abcd', 'abcd'])
  })

  it('counts waiting callers, also of one entry', async () => {
    const { append, appendFor, completeNewest, settle, texts } = startFlyingWriter()
    appendFor(10, 'a')
    await completeNewest()
    append('b')
    await settle()
    expect(texts()).toEqual(['a'])
    appendFor(8, 'c')
    await settle()
    expect(texts()).toEqual(['a', 'bc'])
  })

  it('does not apply to callers that were idle for long', async () => {
    const { append, completeNewest, advance, settle, texts } = startFlyingWriter()
    append('a', 'b')
    await completeNewest()
    await advance(1_000)
    append('a')
    await settle()
    expect(texts()).toEqual(['ab', 'a'])
  })

  it('does not apply to a single client', async () => {
    const { append, completeNewest, settle, texts } = startFlyingWriter()
    // The later entries are smaller.
    for (const one of ['a'.repeat(100), 'b', 'c']) {
      append(one)
      await settle()
      expect(texts().at(-1)).toBe(one)
      await completeNewest()
    }
  })

  it('ends on close', async () => {
    const { writer, append, completeNewest, settle } = startFlyingWriter()
    append('a', 'b')
    await settle()
    append('c')
    await completeNewest()
    await expect(writer.close()).resolves.toBeUndefined()
  })
})
