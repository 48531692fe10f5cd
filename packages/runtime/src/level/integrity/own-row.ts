import type { ClassicLevel } from 'classic-level'

/**
 * The row that a service needs to interpret all other rows of its database: a sequence, a position, the catalog in use.
 * If other rows exist without it, the database is damaged: a start that took it for a new one would delete or mix up
 * data.
 */
export interface OwnRow {
  readonly key: Buffer
  /** First format in which every database with entries has the row. */
  readonly since: number
  /** Value that a start writes to a database without entries; by default the service itself writes it first. */
  readonly first?: string
  /** Rebuilds the row from the other rows. Returns a line for each loss. */
  rebuild(db: ClassicLevel<Buffer, Buffer>): Promise<readonly string[]>
}

/** Own rows by service, for commands that do not depend on any service. */
export type OwnRows = Readonly<Record<string, () => Promise<OwnRow>>>

export const describeRow = (key: Buffer): string =>
  key.length === 0 ? 'with the empty key' : JSON.stringify(key.toString())
