import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import type { LogEntry, LogPosition } from '@influencer-stats/log/log'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sumBytes } from '../src/broker/fanout-backlog.ts'
import { CLOSING_KIND, IMPORT_KIND, SseStateMachine, PUTS_KIND } from '../src/broker/sse-state-machine.ts'
import { isClosing, type StreamEntry, type TopicPut } from '../src/core/event.ts'
import { decodePuts, encodePuts } from '../src/core/encode-puts.ts'
import { encodeEvents } from '../src/core/moved-event.ts'
import { createSelectors } from '../src/core/selectors.ts'
import { RingHistory } from '../src/history/ring-history.ts'
import { createStreamName, openTestLog } from './support/cluster-nodes.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const topic = fc.constantFrom('a', 'b', 'c/1', 'ü')
const more = fc.record(
  {
    alternates: fc.subarray(['x', 'y'], { minLength: 1 }),
    isPrivate: fc.constant(true as const),
    type: fc.constant('t'),
    retry: fc.nat(),
  },
  { requiredKeys: [] },
)
const put: fc.Arbitrary<TopicPut> = fc
  .tuple(topic, text, fc.option(more))
  .map(([name, value, extras]): TopicPut => (extras ? [name, value, extras] : [name, value]))
const puts = fc.array(put, { minLength: 1, maxLength: 5 })
/** A step of the log; null ends all streams. */
const step = fc.option(puts, { freq: 8 })

const options = { count: 4, bytes: 10_000, age: 3_600_000, topics: 100, total: 1_000_000, log: undefined as never }
const at = (seq: number): LogPosition => ({ epoch: 'log', seq, at: 0, check: 0, writers: [] })

function toEntry(one: readonly TopicPut[] | null, i: number): LogEntry {
  const base = { seq: i + 1, at: Date.now() + i }
  return one
    ? { ...base, kind: PUTS_KIND, body: encodePuts(one) }
    : { ...base, kind: CLOSING_KIND, body: Buffer.alloc(0) }
}

function openStateMachine() {
  const delivered: StreamEntry[] = []
  const stateMachine = new SseStateMachine({
    createHistory: (state) => new RingHistory(options, state),
    deliver: (entries) => void delivered.push(...entries),
  })
  return { stateMachine, delivered }
}

/** Splits chunks into other sizes. */
async function* cut(pieces: AsyncIterable<Buffer>, sizes: Iterator<number>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length;) {
      const to = from + sizes.next().value
      yield piece.subarray(from, to)
      from = to
    }
  }
}

describe('an import', () => {
  it('has the same result on every node, regardless of the batches, and when it is repeated', async () => {
    const event = fc.record({ topic, value: text, at: fc.nat(5) })
    const entry = fc.oneof(
      fc
        .array(event, { minLength: 1, maxLength: 5 })
        .map((events) => ({ kind: IMPORT_KIND, body: encodeEvents(events) })),
      puts.map((given) => ({ kind: PUTS_KIND, body: encodePuts(given) })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 8 }), fc.array(fc.nat(8)), async (steps, cuts) => {
        const entries = steps.map((one, i) => ({ ...one, seq: i + 1, at: i }))
        const results = await Promise.all(
          [[], cuts, entries.keys().toArray()].map(async (ends) => {
            const { stateMachine, delivered } = openStateMachine()
            const bounds = [0, ...ends.toSorted((a, b) => a - b), entries.length]
            for (const [i, end] of bounds.entries()) {
              const some = entries.slice(bounds[i - 1], end)
              if (some.length > 0 && i > 0) await stateMachine.apply(some, at(end))
            }
            return { state: stateMachine.getHistory('log').getState(), delivered }
          }),
        )
        expect(results[1]).toEqual(results[0])
        expect(results[2]).toEqual(results[0])
      }),
    )
  })

  it('adds each event once, and none that is older than the current value', async () => {
    const { stateMachine, delivered } = openStateMachine()
    const events = [
      { topic: 'a', value: '1', at: 5 },
      { topic: 'a', value: '2', at: 5, more: { type: 't' } },
    ]
    const importAll = (seq: number) =>
      stateMachine.apply([{ seq, at: 9, kind: IMPORT_KIND, body: encodeEvents(events) }], at(seq))
    expect(await importAll(1)).toEqual([2])
    expect(await importAll(2)).toEqual([0])
    const older = encodeEvents([{ topic: 'a', value: '0', at: 4 }])
    expect(await stateMachine.apply([{ seq: 3, at: 9, kind: IMPORT_KIND, body: older }], at(3))).toEqual([0])
    expect(delivered).toEqual(events.map((event, i) => ({ seq: i + 1, ...event })))
  })
})

describe('values as an entry of the log', () => {
  it('are decoded unchanged', () => {
    fc.assert(
      fc.property(puts, (given) => {
        expect(decodePuts(encodePuts(given))).toEqual({ puts: given, bytes: sumBytes(given) })
      }),
    )
    const odd: TopicPut[] = [
      ['t\u{d800}', '\u{feff}a'],
      ['', ''],
    ]
    expect(decodePuts(encodePuts(odd)).puts).toEqual(odd)
  })

  it('are refused if they are truncated', () => {
    const entry = encodePuts([
      ['a', 'value'],
      ['b', 'é'],
    ])
    for (let length = 0; length < entry.length; length++) expect(() => decodePuts(entry.subarray(0, length))).toThrow()
    expect(() => decodePuts(Buffer.concat([entry, entry]))).toThrow(RangeError)
  })
})

describe('the state machine', () => {
  it('assigns the same sequences on every node, with any batches, and after a snapshot', async () => {
    const cuts = fc.infiniteStream(fc.integer({ min: 1, max: 4 }))
    const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 100 }))
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 20 }),
        cuts,
        sizes,
        fc.nat(),
        async (steps, runs, pieces, when) => {
          const entries = steps.map(toEntry)
          const one = openStateMachine()
          const seqs: unknown[] = []
          for (const entry of entries) seqs.push(...(await one.stateMachine.apply([entry], at(entry.seq))))
          const snapshotAfter = when % entries.length
          const others: unknown[] = []
          let { stateMachine, delivered } = openStateMachine()
          for (let from = 0; from < entries.length;) {
            const some = entries.slice(from, (from += runs.next().value))
            others.push(...(await stateMachine.apply(some, at(some.at(-1)!.seq))))
            if (from < snapshotAfter) continue
            const next = openStateMachine()
            await next.stateMachine.restore(cut(stateMachine.snapshot(), pieces))
            expect(next.stateMachine.getPosition()).toEqual(stateMachine.getPosition())
            next.delivered.push(...delivered)
            ;({ stateMachine, delivered } = next)
          }
          expect(others).toEqual(seqs)
          expect(delivered).toEqual(one.delivered)
          expect(delivered.map(({ seq }) => seq)).toEqual(delivered.map((_, i) => i + 1))
          expect(stateMachine.getHistory('log').getState()).toEqual(one.stateMachine.getHistory('log').getState())
          // The last value of each entry has the acknowledged sequence.
          const counts = steps.map((given) => given?.length ?? 1)
          expect(seqs).toEqual(counts.map((_, i) => counts.slice(0, i + 1).reduce((sum, count) => sum + count, 0)))
          expect(delivered.filter(isClosing)).toHaveLength(steps.filter((given) => !given).length)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('refuses a truncated snapshot, and one of an unknown format', async () => {
    const { stateMachine } = openStateMachine()
    await stateMachine.apply([toEntry([['a', '1']], 0), toEntry([['b', '2']], 1)], at(2))
    const pieces = await Array.fromAsync(stateMachine.snapshot())
    const whole = Buffer.concat(pieces)
    async function* given(bytes: Buffer) {
      yield bytes
    }
    for (let length = 0; length < whole.length; length++) {
      const other = openStateMachine().stateMachine
      await expect(other.restore(given(whole.subarray(0, length)))).rejects.toThrow()
      expect(other.getPosition()).toBeUndefined()
    }
    const another = Buffer.from(whole.toString().replace('snapshot 1', 'snapshot 2'))
    await expect(openStateMachine().stateMachine.restore(given(another))).rejects.toThrow('this version')
  })

  it('rejects an unknown entry, and applies no other entry of its batch', async () => {
    const { stateMachine, delivered } = openStateMachine()
    const known = toEntry([['a', '1']], 0)
    const wrong = [
      { ...toEntry([['a', '2']], 1), kind: 9 },
      { ...known, seq: 2, body: Buffer.from('values?') },
    ]
    const codes = ['LOG_FORMAT_UNKNOWN', 'LOG_DAMAGED']
    for (const [i, entry] of wrong.entries())
      await expect(stateMachine.apply([known, entry], at(2))).rejects.toMatchObject({ name: 'Error', code: codes[i] })
    expect([delivered, stateMachine.getPosition(), stateMachine.getHistory('log').seq]).toEqual([[], undefined, 0])
  })
})

describe('a log without its oldest messages', () => {
  it('starts a new node from a snapshot, and reports a gap before the oldest event of the snapshot', async () => {
    const { url } = await startTestNatsServer()
    const stream = createStreamName()
    const one = openStateMachine()
    const log = await openTestLog(url, stream, one.stateMachine)
    const add = (value: string, name = 'a') => log.append<number>(PUTS_KIND, encodePuts([[name, value]]))
    for (let i = 1; i <= 10; i++) await add(String(i))
    await add('quiet', 'b')
    await log.trim(await log.snapshot())
    for (let i = 11; i <= 13; i++) await add(String(i))
    const other = openStateMachine()
    await openTestLog(url, stream, other.stateMachine)
    const [here, there] = [one, other].map(({ stateMachine }) => stateMachine.getHistory(log.epoch))
    expect(there!.getState()).toEqual(here!.getState())
    expect(there!.epoch).toBe(here!.epoch)
    const since = (seq: number) => there!.readSince(createSelectors(['a']), seq)
    expect(since(10).events.map(({ value }) => value)).toEqual(['11', '12', '13'])
    expect([since(10).complete, since(9).complete, since(1).complete]).toEqual([true, true, false])
    expect(there!.getCurrent('b')?.value).toBe('quiet')
    // Only entries after the snapshot are delivered.
    expect(other.delivered.map(({ seq }) => seq)).toEqual([12, 13, 14])
  })
})
