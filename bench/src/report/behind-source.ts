import type { RowResult } from '../row.ts'
import type { Table } from '../tables/table.ts'
import { columnOf, figureOf, isSource, SOURCE, sourceOf, type Column } from './columns.ts'
import { short } from './numbers.ts'
import type { Published } from './results.ts'
import type { Cells } from './table.ts'

/** Our figure and the source's, if a table has a column for each and both are numbers. */
export interface SourcePair {
  readonly column: Column
  readonly ours: number
  readonly theirs: number
  /** Both as their columns write them. */
  readonly text: string
}

export function sourcePairsOf(result: RowResult, { columns }: Pick<Table, 'columns'>): SourcePair[] {
  return Object.entries(columns).flatMap(([name, sourceColumn]) => {
    const own = columns[name.replace(SOURCE, '')]
    const [ours, theirs] = [figureOf(result, name.replace(SOURCE, '')), sourceOf(result, name)]
    if (!isSource(name) || own === undefined || ours === undefined || typeof theirs !== 'number') return []
    const [column, { format = short }] = [columnOf(own), columnOf(sourceColumn)]
    const text = `${column.head} ${(column.format ?? short)(ours)} (${format(theirs)})`
    return [{ column, ours, theirs, text }]
  })
}

const isBehind = ({ column: { better, sourceUnits = 1 }, ours, theirs }: SourcePair): boolean =>
  better === 'more' ? ours * sourceUnits < theirs : better === 'less' && ours * sourceUnits > theirs

/** Returns a line with the better figures of the source for each row of the published tables that has any. */
export function behindSource(published: readonly Published[]): Cells {
  const rows = published.flatMap(({ table, results }) =>
    results.flatMap((result) => {
      const behind = sourcePairsOf(result, table).filter(isBehind)
      const title = `${table.service}/${table.name}: ${result.name} / the source`
      return behind.length > 0 ? [[title, behind.map(({ text }) => text).join('; ')]] : []
    }),
  )
  return [['ours / the source', "ours (the source's)"], ...rows]
}
