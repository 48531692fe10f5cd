const NEEDS_QUOTES = /[",;\r\n]|^#/

/** Returns a list as the text of one cell: `spring, "a, b"`. */
export const formatListCell = (elements: readonly string[]): string =>
  elements
    .map((text) => (NEEDS_QUOTES.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text))
    .join(', ')

/** Parses a list. Commas, semicolons and line breaks separate its elements. Hashtags lose their sign. Duplicates are removed. */
export function parseListCell(text: string): string[] {
  const elements = new Set<string>()
  for (let at = 0; at < text.length; at++) {
    while (/\s/.test(text[at] ?? '')) at++
    const quoted = text[at] === '"' ? readQuotedElement(text, at) : undefined
    const start = quoted?.end ?? at
    at = start
    while (at < text.length && !',;\r\n'.includes(text[at]!)) at++
    if (quoted) elements.add(quoted.text)
    else for (const element of splitHashtags(text.slice(start, at).trim())) elements.add(element)
  }
  elements.delete('')
  return [...elements]
}

function readQuotedElement(text: string, start: number) {
  for (let from = start + 1; ;) {
    const quote = text.indexOf('"', from)
    if (quote < 0) return undefined
    if (text[quote + 1] !== '"') return { text: text.slice(start + 1, quote).replaceAll('""', '"'), end: quote + 1 }
    from = quote + 2
  }
}

function splitHashtags(text: string): string[] {
  if (!text.startsWith('#')) return [text]
  const words = text.split(/\s+/)
  return words.every((word) => word.startsWith('#')) ? words.map((word) => word.slice(1)) : [text.slice(1)]
}
