/** First key available to users: the empty key belongs to the service. */
export const FIRST_KEY = Buffer.from([0])

const MAX_CODE_POINT = 0x10ffff
/** Code point before U+E000 in UTF-8, which has no surrogates. */
const BEFORE_SURROGATES = 0xd7ff
const AFTER_SURROGATES = 0xe000

/**
 * Returns the first string after all strings that begin with `prefix`, in the order of UTF-8; `undefined` if none
 * exists. UTF-8 bytes sort like code points, so the result has the last code point plus one. It remains UTF-8; with a
 * byte plus one it would not.
 */
export function getPrefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!)
  while (points.at(-1) === MAX_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  return String.fromCodePoint(...points, last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1)
}

/** Returns the first key after a key. */
export const getNextKey = (key: Buffer): Buffer => Buffer.concat([key, FIRST_KEY])
