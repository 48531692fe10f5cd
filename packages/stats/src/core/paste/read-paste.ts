import type { ContentLink } from './content-link.ts'
import { cutText, type AcceptedItem, type PasteItem } from './paste-item.ts'
import { findSheet, readCell, readSheet, type FoundContent } from './read-sheet.ts'
import { splitLines, splitWords } from './words.ts'

/** Maximum number of items of a paste. */
export const MAX_PASTE_ITEMS = 10_000

/** The content of a pasted text. */
export interface Paste {
  /** In the order of the text. Each content is accepted at its first item; the others are duplicates. */
  readonly items: readonly PasteItem[]
  /** Headings of a sheet that are not known. Their columns are ignored. */
  readonly unknownHeadings: readonly string[]
  /** True if the text contains more than `MAX_PASTE_ITEMS` items. */
  readonly isCut?: true
}

/**
 * Finds all videos, channels, playlists and posts in a text, such as a sheet or prose, in linear time. It is a sheet if
 * one of its first rows consists of headings; then each row gives its values to its items, or is refused.
 */
export function readPaste(text: string): Paste {
  const sheet = findSheet(text)
  const found: FoundContent[] = []
  for (const content of sheet ? readSheet(sheet) : readLines(text)) {
    if (found.length === MAX_PASTE_ITEMS) return { ...toPaste(found, sheet?.columns.unknown), isCut: true }
    found.push(content)
  }
  return toPaste(found, sheet?.columns.unknown)
}

/** Returns the ids that YouTube must confirm, each once. Those that look like words come last. */
export function listDoubtfulIds({ items }: Paste): string[] {
  const doubtful = items.filter((item): item is AcceptedItem => item.state === 'doubtful')
  const sorted = [...doubtful.filter(({ isWord }) => !isWord), ...doubtful.filter(({ isWord }) => isWord)]
  return sorted.flatMap(({ id }) => id ?? [])
}

const HAS_LETTER = /\p{L}/u

/** Yields the contents of lines without columns. A line that consists of one other word is refused. */
function* readLines(text: string): Generator<FoundContent> {
  for (const [i, line] of splitLines(text).entries()) {
    const contents = readCell(line)
    for (const content of contents) yield { line: i + 1, ...content }
    if (contents.length > 0 || !HAS_LETTER.test(line)) continue
    const words = splitWords(line)
    if (words.length === 1) yield { line: i + 1, text: cutText(words[0]!), content: { reason: 'NO_LINK' } }
  }
}

function toPaste(found: readonly FoundContent[], unknownHeadings: readonly string[] = []): Paste {
  const certain = new Set<string>()
  for (const { content } of found) if ('link' in content && !content.isDoubtful) certain.add(toContentKey(content.link))
  const firstLines = new Map<string, number>()
  const items = found.map(({ line, text, row, content }): PasteItem => {
    const position = { line, text, ...(row && { row }) }
    if ('reason' in content) return { ...position, state: 'refused', reason: content.reason }
    const key = toContentKey(content.link)
    const firstLine = firstLines.get(key)
    if (firstLine !== undefined) return { ...position, ...content.link, state: 'duplicate', firstLine }
    firstLines.set(key, line)
    // A link to the same video confirms the bare id.
    if (!content.isDoubtful || certain.has(key)) return { ...position, ...content.link, state: 'new' }
    return { ...position, ...content.link, state: 'doubtful', ...(content.isWord && { isWord: true }) }
  })
  return { items, unknownHeadings }
}

/** The same for all links to one content. */
export function toContentKey(link: ContentLink): string {
  const name =
    link.type === 'channel' && link.id === undefined ? `${link.nameKind}/${link.name!.toLowerCase()}` : link.id
  return `${link.platform}/${link.type}/${name}`
}
