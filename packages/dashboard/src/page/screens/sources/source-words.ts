import { parseTags } from '../../core/campaign-input.ts'
import { text } from '../../texts/texts.ts'

/** Returns the words that a person typed, for `contains`; undefined without any. */
export function parseWords(typed: string): readonly string[] | undefined {
  const words = parseTags(typed)
  return words.length > 0 ? words : undefined
}

export const formatWords = (words: readonly string[] = []): string => words.join(', ')

/** Returns which uploads a source adds. */
export const describeWords = (words: readonly string[] = []): string =>
  words.length === 0 ? text('sources.all') : text('sources.only', { words: formatWords(words) })
