import type { Level } from 'level'

/**
 * The row that a service needs to interpret all other rows of its database: a sequence, a position, the catalog in use.
 * If other rows exist without it, the database is damaged: a start that treats the database as new would delete or mix
 * up data.
 */
export interface OwnRow {
  readonly key: Buffer
  /** First format in which every database with entries has the row. */
  readonly since: number
  /** Value that a start writes to a database without entries. If undefined, the service itself writes the row. */
  readonly first?: string
  /** Rebuilds the row from the other rows. Returns a line for each loss. */
  rebuild(db: Level<Buffer, Buffer>): Promise<readonly string[]>
}

/** Functions that load the own row, by service. Commands use them without a dependency on a service. */
export type OwnRows = Readonly<Record<string, () => Promise<OwnRow>>>

export const describeRow = (key: Buffer): string =>
  key.length === 0 ? 'with the empty key' : JSON.stringify(key.toString())
