import type { RowResult } from '../row.ts'
import type { BenchTable } from '../table.ts'
import { toColumn, getMetric, isSource, SOURCE_PREFIX, getSource, type Column } from './columns.ts'
import { formatShort } from './format-numbers.ts'
import { getTableName, type PublishedTable } from './results.ts'
import type { Cells } from './table-cells.ts'

/** Our value and the value of the source, if a table has a column for each and both are numbers. */
export interface SourcePair {
  readonly column: Column
  readonly ours: number
  readonly theirs: number
  /** Both values as text. */
  readonly text: string
}

export function listSourcePairs(result: RowResult, { columns }: Pick<BenchTable, 'columns'>): SourcePair[] {
  return Object.entries(columns).flatMap(([name, sourceColumn]) => {
    const own = columns[name.replace(SOURCE_PREFIX, '')]
    const [measured, reference] = [getMetric(result, name.replace(SOURCE_PREFIX, '')), getSource(result, name)]
    if (!isSource(name) || own === undefined || measured === undefined || typeof reference !== 'number') return []
    const [column, { format = formatShort }] = [toColumn(own), toColumn(sourceColumn)]
    const text = `${column.head} ${(column.format ?? formatShort)(measured)} (${format(reference)})`
    return [{ column, ours: measured, theirs: reference, text }]
  })
}

const isSourceBetter = ({ column: { better, sourceUnits = 1 }, ours, theirs }: SourcePair): boolean =>
  better === 'more' ? ours * sourceUnits < theirs : better === 'less' && ours * sourceUnits > theirs

/** Returns a table with the values of the source that are better than ours, one line for each row that has any. */
export function listBetterSources(published: readonly PublishedTable[]): Cells {
  const rows = published.flatMap((one) =>
    one.results.flatMap((result) => {
      const better = listSourcePairs(result, one.table).filter(isSourceBetter)
      const title = `${getTableName(one)}: ${result.name} / the source`
      return better.length > 0 ? [[title, better.map(({ text }) => text).join('; ')]] : []
    }),
  )
  return [['ours / the source', "ours (the source's)"], ...rows]
}
