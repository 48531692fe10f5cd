const MAX_TEXT_LENGTH = 500

/** Returns a text of YouTube up to a length (500 characters); undefined for an empty text and for other values. */
export const toText = (value: unknown, maxLength = MAX_TEXT_LENGTH): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, maxLength) : undefined

/** Returns a time of YouTube in ISO 8601 with milliseconds; undefined for other values. */
export function toTime(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** Returns an object without its undefined properties. */
export const omitUndefined = <Value extends object>(
  value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never
