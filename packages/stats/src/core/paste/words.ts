import { isVideoId } from '../ids.ts'

/** Zero-width characters, direction marks and the like, which copied text contains. */
const INVISIBLE_CHARACTERS = /\p{Cf}/gu
const SEPARATORS = /[\s,;|"'<>()[\]{}]+/
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/
const SCHEME = /https?:\/\//gi
/** A label before a link, such as `Video:`, has no character of a link. */
const LINK_CHARACTERS = /[/?=&#]/
/** Marks of bold text in Markdown. */
const MAX_ASTERISKS = 4

export const splitLines = (text: string): string[] => text.split(LINE_BREAK)

/** Returns the words of a text, which links and ids are. Links may follow each other without a separator. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  for (const word of text.replace(INVISIBLE_CHARACTERS, '').replaceAll('&amp;', '&').split(SEPARATORS)) {
    if (word === '') continue
    if (word.includes('://')) addLinks(word, words)
    else words.push(word)
  }
  return words
}

/** Splits a word before each scheme that follows an id, and removes a label before the first one. */
function addLinks(word: string, words: string[]): void {
  let start = 0
  for (const { index } of word.matchAll(SCHEME)) {
    if (index <= start) continue
    const isLabel = start === 0 && !LINK_CHARACTERS.test(word.slice(0, Math.min(index, 64))) && index <= 64
    if (!isLabel && !followsId(word, index)) continue
    if (!isLabel) words.push(word.slice(start, index))
    start = index
  }
  words.push(word.slice(start))
}

function followsId(word: string, index: number): boolean {
  let end = index
  while (end > 0 && index - end < MAX_ASTERISKS && word[end - 1] === '*') end--
  return end >= 11 && isVideoId(word.slice(end - 11, end))
}
