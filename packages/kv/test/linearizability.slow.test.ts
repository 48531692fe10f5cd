import fc from 'fast-check'
import { expect, it } from 'vitest'
import { startKv } from './support/kv.ts'
import { isLinearizable } from './support/linearizable.ts'
import { recordHistories, schedules, type KeyHistories, type HistoryStep } from './support/recorder.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'

const RUN_COUNT = scaleRuns(10)

it.each([
  { threads: 1, commit: 'group' },
  { threads: 4, commit: 'group' },
  { threads: 1, commit: 'single' },
  { threads: 4, commit: 'single' },
])('clients on a few keys see one order: %o', async (settings) => {
  const kv = await startKv(settings)
  let run = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(schedules, async (clients) => {
      const histories: KeyHistories = new Map()
      // Keys that no earlier run has written.
      const prefix = `${++run}/`
      const own = (steps: readonly HistoryStep[]) => steps.map((one) => ({ ...one, key: prefix + one.key }))
      await Promise.all(clients.map((steps, i) => recordHistories(kv.url, String(i), own(steps), histories)))
      expect([...histories].filter(([, history]) => !isLinearizable(history))).toEqual([])
      for (const history of histories.values()) {
        refused += history.filter((one) => one.type === 'write' && one.outcome === 'refused').length
      }
    }),
    // The timing of threads is not reproducible, so a smaller schedule proves nothing.
    { numRuns: RUN_COUNT, endOnFailure: true },
  )
  // The clients did conflict.
  expect(refused).toBeGreaterThan(RUN_COUNT)
  await kv.stop()
})
