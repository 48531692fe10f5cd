import type { RowMetrics } from '../row.ts'

/** A value that a source publishes for its rows, and our metric to compare it with. */
export interface SourceFigure {
  /** Heading with the unit. */
  readonly head: string
  /** `neither`: the two values have different meanings or loads, so neither is better. */
  readonly better: 'more' | 'less' | 'neither'
  /** Our metrics, which are added. Without them the value is shown without one of ours. */
  readonly metrics?: readonly string[]
  /** Factor from our unit to the unit of the source: 100 if ours is a share and theirs a percentage. */
  readonly scale?: number
  /** True if our load is the easier one, so that a better value of ours proves nothing. */
  readonly isOursEasier?: boolean
}

/** Our counterpart of a row: names of rows of the group's table, whose values are added, or the reason for none. */
export type OwnRow = readonly string[] | { readonly notMeasured: string }

/** A row that a source publishes. */
export interface SourceRow {
  readonly name: string
  readonly own: OwnRow
  /** Values by the names of figures, in the units of the source. */
  readonly values: RowMetrics
  /** Differences of the two loads, in addition to those of the group. */
  readonly load?: string
}

/** Rows of a source with the same figures. */
export interface SourceGroup {
  readonly title: string
  /** Our table with the counterparts, as `service/name`. */
  readonly table?: string
  /** Both loads; `{rounds}` is replaced with the number and the duration of our rounds, `{starts}` with their number. */
  readonly load: { readonly theirs: string; readonly ours: string }
  readonly figures: Readonly<Record<string, SourceFigure>>
  readonly rows: readonly SourceRow[]
}

/** A project with published measurements of the service that one of ours reimplements. */
export interface Source {
  readonly service: string
  readonly title: string
  readonly machine: string
  readonly limits: string
  readonly groups: readonly SourceGroup[]
}

/** A figure with one metric of ours in the same unit. */
export const createFigure = (
  head: string,
  better: SourceFigure['better'],
  metric: string,
  more: Partial<SourceFigure> = {},
): SourceFigure => ({ head, better, metrics: [metric], ...more })

/** A value that only the source publishes. */
export const createTheirFigure = (head: string): SourceFigure => ({ head, better: 'neither' })

/** Returns the values of a source that have a metric of ours, for a row of one of our tables. */
export function getSourceValues({ groups }: Source, table: string, row: string): RowMetrics | undefined {
  for (const { figures, rows } of groups.filter((group) => group.table === table)) {
    const found = rows.find(({ own }) => !('notMeasured' in own) && own.length === 1 && own[0] === row)
    if (found) return Object.fromEntries(Object.entries(found.values).filter(([name]) => figures[name]?.metrics))
  }
  return undefined
}
