/** Query parameters by name. A repeated parameter is a list. */
export type SseQuery = Record<string, string | string[]>

// No schema has a parameter of this name, so strict schemas refuse a query string with a bad escape. The Mercure route,
// whose schema allows other parameters, checks `isMalformed`.
const MALFORMED_QUERY = { '(malformed)': '' }

const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))

/** True if the query string could not be parsed. */
export const isMalformed = (query: object): boolean => '(malformed)' in query

/**
 * Parses a query string strictly: only UTF-8, and `+` is a space. An empty name or a bad escape invalidates all of it.
 */
export function parseQuery(text: string): SseQuery {
  const query: SseQuery = Object.create(null)
  if (text === '') return query
  try {
    for (const pair of text.split('&')) {
      const [name, value = ''] = splitAt(pair, '=').map(decode)
      if (!name) return MALFORMED_QUERY
      const previous = query[name]
      query[name] = previous === undefined ? value : [previous, value].flat()
    }
  } catch {
    return MALFORMED_QUERY
  }
  return query
}

function splitAt(text: string, mark: string): string[] {
  const at = text.indexOf(mark)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
