import type { RowTable } from '../../core/rows.ts'
import type { RowChange } from '../index.ts'

/** The rows of each offering, ascending. */
export function rowsByOffering(table: RowTable): Map<number, Int32Array> {
  const counts = new Map<number, number>()
  for (let row = 0; row < table.size; row++) {
    if (table.has(row)) counts.set(table.offering(row), (counts.get(table.offering(row)) ?? 0) + 1)
  }
  const groups = new Map<number, { rows: Int32Array; filled: number }>()
  for (const [offering, count] of counts) groups.set(offering, { rows: new Int32Array(count), filled: 0 })
  for (let row = 0; row < table.size; row++) {
    if (!table.has(row)) continue
    const group = groups.get(table.offering(row))!
    group.rows[group.filled++] = row
  }
  return new Map(Array.from(groups, ([offering, { rows }]) => [offering, rows]))
}

export const changesByOffering = (changes: readonly RowChange[]): Map<number, RowChange[]> =>
  Map.groupBy(changes, ({ before, after }) => (after ?? before)!.offering)
