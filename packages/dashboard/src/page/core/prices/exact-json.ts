/** A number, or its text if a double would not preserve all its digits. */
export type ExactNumber = number | string

/** Strings and numbers of JSON: digits within a string are not a number. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Parses JSON without a loss of digits: a number that would not be written again as it is here becomes its text. The
 * reviver of `JSON.parse` gives these texts, too, but only in browsers since 2025.
 */
export const parseExactJson = (text: string): unknown =>
  JSON.parse(
    text.replace(TOKENS, (token) =>
      token.startsWith('"') || String(Number(token)) === token ? token : JSON.stringify(token),
    ),
  )
