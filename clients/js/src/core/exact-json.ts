/** A decimal: a number, or its text if a number cannot represent its digits, such as `1.10`. */
export type PriceAmount = number | string

// A text, and behind it perhaps a colon and a number. Texts match as a whole, so nothing within them does.
const MEMBER = /"([^"\\]*(?:\\.[^"\\]*)*)"(?:(\s*:\s*)(-?\d[\d.eE+-]*))?/g
const EXACT_NAMES = new Set(['value', 'min', 'max'])

/**
 * Parses JSON. A `value`, `min` or `max` that is not the usual form of a number becomes its text, because `JSON.parse`
 * would round it, or drop the zero of 1.10.
 * @throws SyntaxError
 */
export function parseExactJson(json: string): unknown {
  const exact = json.replace(MEMBER, (member, name: string, colon: string | undefined, number: string) =>
    colon !== undefined && EXACT_NAMES.has(name) && String(Number(number)) !== number
      ? `"${name}"${colon}"${number}"`
      : member,
  )
  return JSON.parse(exact)
}
