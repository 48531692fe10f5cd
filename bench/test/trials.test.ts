import { expect, it } from 'vitest'
import { measureTrials } from '../src/measure-trials.ts'
import { trialTableOf } from '../src/report/trial-table.ts'
import type { TrialRow } from '../src/trial-row.ts'

const row = (name: string, run: TrialRow['run'], source?: TrialRow['source']): TrialRow => {
  return { name, contender: 'kv', run, source }
}

it('trials that fail say why, and the others go on', async () => {
  const steps: string[] = []
  const rows = [
    row(
      'a',
      async (say) => {
        say('half')
        return { rate: 1234.5, pages: 'cached' }
      },
      { rate: 200 },
    ),
    row('b', async () => {
      throw new Error('1 reply was wrong')
    }),
    row('c', async () => ({ rate: 1.25 })),
  ]
  const results = await measureTrials(rows, { onStep: (what, step) => steps.push(`${step} ${what}`) })
  expect(steps).toEqual(['1 a: start', '1 a: half', '2 b: start', '3 c: start'])
  expect(results.map(({ failure }) => failure)).toEqual([undefined, '1 reply was wrong', undefined])
  expect(trialTableOf(results, { rate: 'requests/s', 'source: rate': 'source', pages: 'pages' })).toEqual([
    ['', 'requests/s', 'source', 'pages'],
    ['a', '1,235', '200', 'cached'],
    ['b', 'FAILED', '', ''],
    ['c', '1.3', '', ''],
  ])
})
