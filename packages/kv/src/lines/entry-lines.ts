import type { StoredEntry } from './entry-chunks.ts'
import { toExpiryField, hasLineEnds, toPutLine, toValueField, quoteInLine } from '../core/change-lines.ts'
import { getEtag, getValue, type StoredValue } from '../core/stored-value.ts'

type QuoteText = (text: string) => string

/** Renders entries as lines of NDJSON, which a batch accepts. */
export function toEntryLines(entries: readonly StoredEntry[]): string {
  const text = formatLines(entries, JSON.stringify)
  // The first rendering assumes that no string contains U+0085, U+2028 or U+2029. If its result does, all entries are
  // rendered again. One search of the result costs 0.5 % of the rendering; a search of each string would cost 25 %.
  return hasLineEnds(text) ? formatLines(entries, quoteInLine) : text
}

const formatLines = (entries: readonly StoredEntry[], quote: QuoteText): string =>
  entries.map(([key, value, expiresAt]) => toPutLine(key, value, toExpiryField(expiresAt), quote)).join('')

/** Renders the keys of entries as lines of NDJSON. */
export const toKeyLines = (entries: readonly StoredEntry[]): string =>
  entries.map(([key, , expiresAt]) => `{"id":${quoteInLine(key)}${toExpiryField(expiresAt)}}\n`).join('')

/** Renders a key that has a value as a line of NDJSON. */
export const toFoundLine = (id: string, stored: StoredValue, expiresAt: number | undefined): string =>
  `{"id":${quoteInLine(id)},"found":true,"etag":${JSON.stringify(getEtag(stored))},` +
  `${toValueField(getValue(stored))}${toExpiryField(expiresAt)}}\n`

/** Renders a key without a value as a line of NDJSON. */
export const toMissingLine = (id: string): string => `{"id":${quoteInLine(id)},"found":false}\n`
