import { parseVideoId } from '@influencer-stats/stats/client'

/** The parts of a pasted text. */
export interface Paste {
  /** Ids of videos, each once. */
  readonly videos: readonly string[]
  /** All other words, each once. Words that may have been meant as videos come first. */
  readonly rest: readonly string[]
}

const INVISIBLE_CHARACTERS = /\p{Cf}/gu
/** Two links may follow each other without a character between them. */
const SEPARATORS = /[\s,;|"'<>()[\]{}]+|(?<=[\w-]{11}\**)(?=https?:\/\/)/
/** English words and numbers of 11 characters, such as `Influencers`. Such an id is accepted only in a link. */
const WORD_PATTERN = /^(?:\d*(?:[A-Z]?[a-z]*|[A-Z]+)\d*(?:[-_]|$))+$/
const LINK_PATTERN = /:\/\/|youtu|\.\w+\//i

/** Finds the videos in a text, such as a spreadsheet, by their links and ids. */
export function readPaste(text: string): Paste {
  const videos = new Set<string>()
  const unclear = new Set<string>()
  const others = new Set<string>()
  for (const word of text.replace(INVISIBLE_CHARACTERS, '').split(SEPARATORS).filter(Boolean)) {
    const id = parseVideoId(word)
    const isLink = LINK_PATTERN.test(word)
    if (id !== undefined && (isLink || !WORD_PATTERN.test(id))) videos.add(id)
    else if (id !== undefined || isLink) unclear.add(word)
    else others.add(word)
  }
  return { videos: [...videos], rest: [...unclear, ...others] }
}

/** A unique id for a new campaign. @param bytes random bytes, one for each character of the id */
export function createId(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('')
}

/** Parses tags that the user typed. */
export function parseTags(text: string): string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((tag) => tag.trim())
        .filter(Boolean),
    ),
  ]
}
