import type { TrialRowResult } from '../trial-row.ts'
import { tenth, whole } from './numbers.ts'

/** A figure's name, and what stands above its column; `source: NAME` is the source's. */
export type TrialColumns = Readonly<Record<string, string>>

const SOURCE = 'source: '

const format = (value: number | string | undefined): string =>
  typeof value === 'number' ? (Math.abs(value) < 100 ? tenth(value) : whole(value)) : (value ?? '')

/** The table of a scenario with these columns, the same in the terminal, the README and the report. */
export function trialTableOf(results: readonly TrialRowResult[], columns: TrialColumns): string[][] {
  const names = Object.keys(columns)
  const cellsOf = ({ name, figures, source, failure }: TrialRowResult): string[] =>
    // Why is said once, below the table.
    failure === undefined
      ? [
          name,
          ...names.map((each) => format(each.startsWith(SOURCE) ? source?.[each.slice(SOURCE.length)] : figures[each])),
        ]
      : [name, 'FAILED', ...names.slice(1).map(() => '')]
  return [['', ...Object.values(columns)], ...results.map(cellsOf)]
}
