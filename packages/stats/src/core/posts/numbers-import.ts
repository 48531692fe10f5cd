import type { PostCounts } from './post.ts'

/** Numbers of one time that a client reports. */
export interface NumbersReport extends PostCounts {
  /** ms since 1970 */
  readonly at: number
  readonly note?: string | undefined
}

/** Why a row of an import is refused. */
export const IMPORT_REFUSALS = [
  /** The campaign has no such post. */
  'POST_NOT_FOUND',
  /** The row has neither a post nor a link to one. */
  'NO_POST',
  /** The row has no count. */
  'NO_NUMBERS',
  /** A cell is no count, or no time. */
  'INVALID_VALUE',
  'NUMBERS_IN_FUTURE',
  'TOO_MANY_NUMBERS',
] as const
export type ImportRefusal = (typeof IMPORT_REFUSALS)[number]

/** A row of an import that names a post: by its id, or by its normalised link. */
export interface ImportedNumbers {
  /** Line of the row in the file. */
  readonly line: number
  readonly post?: string | undefined
  readonly url?: string | undefined
  readonly numbers: NumbersReport
}

/** A row of an import, refused without a look at the posts. */
export interface RefusedRow {
  readonly line: number
  readonly state: 'refused'
  readonly reason: ImportRefusal
  /** The text that is the reason. */
  readonly detail?: string
}

/** Result of a row of an import. */
export type ImportedRow =
  | RefusedRow
  | { readonly line: number; readonly state: 'new' | 'replaced'; readonly post: string }
