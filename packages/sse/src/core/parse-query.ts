import { describeEncodingFault, INVALID_QUERY } from '@influencer-stats/runtime/received-value'

/** Query parameters by name. A repeated parameter is a list. */
export type SseQuery = Record<string, string | string[]>

/**
 * Creates the result for a malformed query string: one parameter `INVALID_QUERY` that describes the fault. No schema has
 * this parameter, so strict schemas refuse the query. The routes of streams and of the Mercure protocol allow other
 * parameters, so they check `isMalformed`.
 */
function createMalformed(pair: string): SseQuery {
  const [name = '', value = ''] = splitAt(pair, '=')
  return {
    [INVALID_QUERY]:
      name === ''
        ? 'each parameter must have the form name=value; received no name'
        : describeEncodingFault(name, value),
  }
}

const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))

/** True if the query string could not be parsed. */
export const isMalformed = (query: object): boolean => INVALID_QUERY in query

/** Describes the parameter that could not be parsed. */
export const describeMalformed = (query: object): string => String((query as SseQuery)[INVALID_QUERY])

/**
 * Parses a query string. A `+` is a space. An empty name, or an escape that is not valid UTF-8, makes the whole query
 * malformed.
 */
export function parseQuery(text: string): SseQuery {
  const query: SseQuery = Object.create(null)
  if (text === '') return query
  let pair = ''
  try {
    for (pair of text.split('&')) {
      const [name, value = ''] = splitAt(pair, '=').map(decode)
      if (!name || name === INVALID_QUERY) return createMalformed(pair)
      const previous = query[name]
      query[name] = previous === undefined ? value : [previous, value].flat()
    }
  } catch {
    return createMalformed(pair)
  }
  return query
}

function splitAt(text: string, mark: string): string[] {
  const at = text.indexOf(mark)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
