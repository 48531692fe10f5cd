import type { RowTable } from '../../core/rows.ts'
import { eachInTurns } from '../../turn.ts'
import type { RowChange } from '../index.ts'

/** The rows of each offering, ascending. */
export async function rowsByOffering(table: RowTable): Promise<Map<number, Int32Array>> {
  const counts = new Map<number, number>()
  await eachInTurns(table.size, (row) => {
    if (table.has(row)) counts.set(table.offering(row), (counts.get(table.offering(row)) ?? 0) + 1)
  })
  const groups = new Map<number, { rows: Int32Array; filled: number }>()
  for (const [offering, count] of counts) groups.set(offering, { rows: new Int32Array(count), filled: 0 })
  await eachInTurns(table.size, (row) => {
    if (!table.has(row)) return
    const group = groups.get(table.offering(row))!
    group.rows[group.filled++] = row
  })
  return new Map(Array.from(groups, ([offering, { rows }]) => [offering, rows]))
}

export const changesByOffering = (changes: readonly RowChange[]): Map<number, RowChange[]> =>
  Map.groupBy(changes, ({ before, after }) => (after ?? before)!.offering)
