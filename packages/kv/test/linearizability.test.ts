import fc from 'fast-check'
import { expect, it } from 'vitest'
import { startKv } from './support/kv.ts'
import { isLinearizable } from './support/linearizable.ts'
import { record, schedules, type Histories, type Step } from './support/recorder.ts'
import { runs } from '@influencer-stats/runtime/testing/runs'

const RUNS = runs(10)

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
      const histories: Histories = new Map()
      // Keys that no run before has written.
      const prefix = `${++run}/`
      const own = (steps: readonly Step[]) => steps.map((one) => ({ ...one, key: prefix + one.key }))
      await Promise.all(clients.map((steps, i) => record(kv.url, String(i), own(steps), histories)))
      expect([...histories].filter(([, history]) => !isLinearizable(history))).toEqual([])
      for (const history of histories.values()) {
        refused += history.filter((one) => one.type === 'write' && one.outcome === 'refused').length
      }
    }),
    // What threads do is not the same a second time: a smaller schedule proves nothing.
    { numRuns: RUNS, endOnFailure: true },
  )
  // They did meet.
  expect(refused).toBeGreaterThan(RUNS)
  await kv.stop()
})
