/** Maximum length of a list of keys (keys). */
export const MAX_KEYS = 10_000

/** Maximum size of a body with a list of keys (bytes): its JSON is parsed without a pause, in 5 ms. */
export const MAX_KEYS_BYTES = 1_048_576

/** Returns the keys in a body `{"ids":[...]}`, or a description of the error. */
export function parseKeyList(body: Buffer): string[] | string {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString())
  } catch {
    return 'it is not JSON'
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return 'it is not an object'
  const { ids, ...rest } = parsed as Record<string, unknown>
  const [unknownFields] = Object.keys(rest)
  if (unknownFields !== undefined) return `unknown field ${JSON.stringify(unknownFields)}`
  if (!Array.isArray(ids) || ids.length === 0) return '"ids" must be a list of one or more keys'
  const invalid = ids.findIndex((id) => typeof id !== 'string' || id === '' || !id.isWellFormed())
  return invalid < 0 ? ids : `"ids"[${invalid}] must be a string of one or more characters`
}
