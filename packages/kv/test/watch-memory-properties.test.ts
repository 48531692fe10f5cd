import { sumHeldBytes } from '@influencer-stats/runtime/budget'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openWatchers, put, readSequences, toName, waitForClose, waitForSequence } from './support/watchers.ts'

it('streams get every change exactly once, for any reads, cuts and resumes', async () => {
  const key = fc.integer({ min: 0, max: 9 })
  const bytes = fc.constantFrom(1, 500, 5_000, 60_000)
  const step = fc.oneof(
    fc.record({ puts: fc.array(key, { minLength: 1, maxLength: 4 }), bytes }),
    fc.record({ stream: fc.nat(), reads: fc.integer({ min: 1, max: 20 }) }),
    fc.constant('turn' as const),
  )
  /** JSON of a change without its value (bytes). */
  const MAX_CHANGE_OVERHEAD_BYTES = 200
  let cut = 0
  const range = fc.tuple(key, fc.option(key, { nil: undefined }))
  await fc.assert(
    fc.asyncProperty(
      fc.array(range, { minLength: 1, maxLength: 8 }),
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom(40_000, 400_000, 4_000_000),
      async (ranges, steps, clientMemoryLimit) => {
        const { feed, memory, watchers, open } = openWatchers({ clientMemoryLimit })
        const toRange = ([start, end]: (typeof ranges)[0]) => ({
          start: toName(start),
          ...(end !== undefined && { end: toName(end) }),
        })
        const reader = open({ start: '' }, { isReading: true })
        await waitForSequence(reader, 0)
        const streams = ranges.map((one) => ({
          range: toRange(one),
          connection: open(toRange(one)),
          read: [] as any[],
        }))
        await waitUntil(() => streams.every(({ connection }) => connection.unread.length === 2))
        let seq = 0
        const written: { seq: number; keys: string[] }[] = []
        async function resume(stream: (typeof streams)[0], isReading = false): Promise<void> {
          stream.read.push(...(await readSequences(stream.connection)))
          stream.connection.destroy()
          stream.connection = open(stream.range, { after: stream.read.at(-1)?.seq ?? 0, isReading })
        }
        // A stream without unread bytes receives all changes of a turn, however large they are.
        let [turnBytes, maxTurnBytes] = [0, 0]
        for (const one of steps) {
          if (one === 'turn') {
            await waitForSequence(reader, seq)
            turnBytes = 0
          } else if ('puts' in one) {
            turnBytes += one.puts.length * (one.bytes + MAX_CHANGE_OVERHEAD_BYTES)
            maxTurnBytes = Math.max(maxTurnBytes, turnBytes)
            const keys = one.puts.map(toName)
            put(feed, ++seq, keys, one.bytes)
            written.push({ seq, keys })
          } else {
            const stream = streams[one.stream % streams.length]!
            stream.connection.read(one.reads)
            if (stream.connection.isCut) await resume(stream)
          }
          const unread = streams.map(({ connection }) => connection)
          if (new Set(unread.flatMap((connection) => connection.unread)).size > 1)
            expect(sumHeldBytes(memory)).toBeLessThanOrEqual(Math.max(clientMemoryLimit, 400_000, maxTurnBytes))
        }
        put(
          feed,
          ++seq,
          Array.from({ length: 10 }, (_, i) => toName(i)),
          1,
        )
        written.push({ seq, keys: Array.from({ length: 10 }, (_, i) => toName(i)) })
        for (const stream of streams) {
          await resume(stream, true)
          const { start, end } = stream.range
          const expected = written
            .map(({ seq: at, keys }) => ({
              seq: at,
              keys: keys.filter((name) => name >= start && (end === undefined || name < end)),
            }))
            .filter(({ keys }) => keys.length > 0)
          const last = expected.at(-1)?.seq ?? 0
          if (last > (stream.read.at(-1)?.seq ?? 0)) await waitForSequence(stream.connection, last)
          const read = [...stream.read, ...(await readSequences(stream.connection))]
          expect(read.filter(({ keys }) => keys.length > 0)).toEqual(expected)
        }
        for (const { connection } of streams) connection.destroy()
        await waitForClose()
        expect([watchers.streams, watchers.unreadBytes, sumHeldBytes(memory)]).toEqual([1, 0, 0])
        cut += watchers.cutStreams
        watchers.close()
      },
    ),
    { numRuns: scaleRuns(100) },
  )
  expect(cut).toBeGreaterThan(0)
}, 120_000)
