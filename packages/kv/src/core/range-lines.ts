import type { Entry } from './frames.ts'
import { expiryField, hasLineEnds, putLine, quoteInLine } from './lines.ts'

type Quote = (text: string) => string

/** Entries as lines of NDJSON, which a batch takes. */
export function toLines(entries: readonly Entry[]): string {
  const text = linesOf(entries, JSON.stringify)
  // One look at a slice costs 0.5 % of its rendering; a look at each of its strings costs 25 %.
  return hasLineEnds(text) ? linesOf(entries, quoteInLine) : text
}

const linesOf = (entries: readonly Entry[], quote: Quote): string =>
  entries.map(([key, value, expiresAt]) => putLine(key, value, expiryField(expiresAt), quote)).join('')

/** Keys as lines of NDJSON. */
export const toKeyLines = (entries: readonly Entry[]): string =>
  entries.map(([key, , expiresAt]) => `{"id":${quoteInLine(key)}${expiryField(expiresAt)}}\n`).join('')
