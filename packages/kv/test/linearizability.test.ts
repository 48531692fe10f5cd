import fc from 'fast-check'
import { expect, it } from 'vitest'
import { startKv } from './support/kv.ts'
import { isLinearizable } from './support/linearizable.ts'
import { record, type Histories, type Step } from './support/recorder.ts'

const CLIENTS = 8
const KEYS = ['a', "a'", 'b']
const RUNS = 20

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    'get',
    'get',
    'get',
    'put',
    'put',
    'create',
    'replace',
    'swap',
    'swap',
    'delete',
    'deleteSame',
    'batch',
    'abandon',
  ),
  key: fc.constantFrom(...KEYS),
  turns: fc.nat(3),
  durable: fc.boolean(),
})
const schedule = fc.array(fc.array(step, { minLength: 1, maxLength: 15, size: 'max' }), {
  minLength: CLIENTS,
  maxLength: CLIENTS,
})

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
    fc.asyncProperty(schedule, async (clients) => {
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
