import { reasonOf, type MeasureOptions } from './measure.ts'
import type { TrialRow, TrialRowResult } from './trial-row.ts'

/** Runs rows one after the other: each has the machine for itself. */
export async function measureTrials(
  rows: readonly TrialRow[],
  { onStep }: Pick<MeasureOptions, 'onStep'>,
): Promise<TrialRowResult[]> {
  const results: TrialRowResult[] = []
  for (const [i, { name, contender, source, run }] of rows.entries()) {
    const say = (what: string) => onStep?.(`${name}: ${what}`, i + 1, rows.length)
    say('start')
    try {
      results.push({ name, contender, source, figures: await run(say) })
    } catch (error) {
      results.push({ name, contender, source, figures: {}, failure: reasonOf(error) })
    }
  }
  return results
}
