import type { ContentLink, PasteRefusal } from './content-link.ts'
import type { RowValues } from './row-values.ts'

interface PastePosition {
  /** Line of the pasted text, from 1. The line breaks within cells count. */
  readonly line: number
  /** The pasted text, at most 200 characters. */
  readonly text: string
  /** Values of the row of a sheet. All items of the row have the same object. */
  readonly row?: RowValues
}

export type AcceptedItem = PastePosition &
  ContentLink & {
    /** `doubtful`: a bare word of 11 characters. It is a video only if YouTube knows it. */
    readonly state: 'new' | 'doubtful' | 'duplicate'
    /** Line of the first item for the same content. Present for duplicates. */
    readonly firstLine?: number
    /** True for a doubtful word that consists of English words and numbers, such as `Influencers`. */
    readonly isWord?: true
  }

export type RefusedItem = PastePosition & { readonly state: 'refused'; readonly reason: PasteRefusal }

export type PasteItem = AcceptedItem | RefusedItem

/** Maximum length of the text of an item (characters). */
const MAX_TEXT_LENGTH = 200

export const cutText = (text: string): string =>
  text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH - 1)}…` : text
