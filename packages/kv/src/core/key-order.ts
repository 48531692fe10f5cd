/** First key that a user can have: the empty key belongs to the service. */
export const FIRST_KEY = Buffer.from([0])

const MAX_CODE_POINT = 0x10ffff
// UTF-8 has no surrogates: U+E000 follows U+D7FF.
const BEFORE_SURROGATES = 0xd7ff
const AFTER_SURROGATES = 0xe000

/**
 * Returns the first string after all strings that begin with `prefix`, in the order of their UTF-8 bytes; `undefined`
 * if there is none. UTF-8 bytes sort like code points, so the function increments the last code point. To increment the
 * last byte would give bytes that are not UTF-8.
 */
export function getPrefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!)
  while (points.at(-1) === MAX_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  return String.fromCodePoint(...points, last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1)
}

/** Returns the key directly after a key. */
export const getNextKey = (key: Buffer): Buffer => Buffer.concat([key, FIRST_KEY])
