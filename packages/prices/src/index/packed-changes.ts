import { RowTable } from '../core/row-table.ts'
import type { RowChange } from './price-index.ts'

/** Changes of rows as bytes. As objects they cost each receiving thread several times as much. */
export interface PackedChanges {
  readonly rows: Int32Array
  readonly before: Uint8Array
  readonly after: Uint8Array
}

/** Expected size of a row (cells). A table with larger rows grows. */
const CELLS_PER_ROW = 16

export function packChanges(changes: readonly RowChange[]): PackedChanges {
  const { length } = changes
  const [before, after] = [1, 2].map(() => new RowTable(length, CELLS_PER_ROW * (length + 1))) as [RowTable, RowTable]
  for (const change of changes) {
    before.push(change.before)
    after.push(change.after)
  }
  const rows = Int32Array.from(changes, ({ row }) => row)
  return { rows, before: before.encode(0, length), after: after.encode(0, length) }
}

export function unpackChanges({ rows, ...packed }: PackedChanges): RowChange[] {
  if (rows.length === 0) return []
  const [before, after] = [packed.before, packed.after].map((bytes) => {
    const table = new RowTable(rows.length, bytes.length / Int32Array.BYTES_PER_ELEMENT)
    table.decode(bytes)
    return table
  }) as [RowTable, RowTable]
  return Array.from(rows, (row, i) => ({ row, before: before.get(i), after: after.get(i) }))
}
