import type { RowTable } from '../../core/row-table.ts'
import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import type { RowChange } from '../price-index.ts'

/** Returns the rows of each offering, ascending. */
export async function groupRowsByOffering(table: RowTable): Promise<Map<number, Int32Array>> {
  const counts = new Map<number, number>()
  await forEachInTurns(table.size, (row) => {
    if (table.has(row)) counts.set(table.getOffering(row), (counts.get(table.getOffering(row)) ?? 0) + 1)
  })
  const groups = new Map<number, { rows: Int32Array; filled: number }>()
  for (const [offering, count] of counts) groups.set(offering, { rows: new Int32Array(count), filled: 0 })
  await forEachInTurns(table.size, (row) => {
    if (!table.has(row)) return
    const group = groups.get(table.getOffering(row))!
    group.rows[group.filled++] = row
  })
  return new Map(Array.from(groups, ([offering, { rows }]) => [offering, rows]))
}

export const groupChangesByOffering = (changes: readonly RowChange[]): Map<number, RowChange[]> =>
  Map.groupBy(changes, ({ before, after }) => (after ?? before)!.offering)
