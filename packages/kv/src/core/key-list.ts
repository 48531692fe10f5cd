import { describeJsonError, formatReceived } from '@influencer-stats/runtime/received-value'

/** Maximum number of keys in a list. */
export const MAX_KEYS = 10_000

/** Maximum size of a body with a list of keys (bytes). Parsing this much JSON blocks the event loop for 5 ms. */
export const MAX_KEYS_BYTES = 1_048_576

/** Returns the keys in a body `{"ids":[...]}`, or a description of the error. */
export function parseKeyList(body: Buffer): string[] | string {
  const text = body.toString()
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return describeJsonError(text, 'body')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return `body must be an object with "ids"; received ${formatReceived(parsed)}`
  const { ids, ...rest } = parsed as Record<string, unknown>
  const [unknownField] = Object.keys(rest)
  if (unknownField !== undefined) return `body has the unknown property ${formatReceived(unknownField)}; known: ids`
  if (!Array.isArray(ids) || ids.length === 0)
    return `"ids" must be an array of 1 to ${MAX_KEYS} keys; received ${formatReceived(ids)}`
  const invalid = ids.findIndex((id) => typeof id !== 'string' || id === '' || !id.isWellFormed())
  if (invalid < 0) return ids
  return `"ids"[${invalid}] must be a string of at least 1 whole character; received ${formatReceived(ids[invalid])}`
}
