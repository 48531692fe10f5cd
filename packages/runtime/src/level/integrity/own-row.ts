import type { ClassicLevel } from 'classic-level'

/**
 * The row by which a service understands all other rows of its database: a sequence, a position, the catalog that counts.
 * If other rows exist without it, the database is damaged: a start that took it for a new one would delete or mix up data.
 */
export interface OwnRow {
  readonly key: Buffer
  /** First format in which every database with entries has the row. */
  readonly since: number
  /** Value that a start writes to a database without entries; by default the service itself writes it first. */
  readonly first?: string
  /** Writes the row anew from the other rows. Returns what is lost, a line each. */
  rebuild(db: ClassicLevel<Buffer, Buffer>): Promise<readonly string[]>
}

/** By service, for commands that know no service. */
export type OwnRows = Readonly<Record<string, () => Promise<OwnRow>>>

export const describeRow = (key: Buffer): string =>
  key.length === 0 ? 'with the empty key' : JSON.stringify(key.toString())
