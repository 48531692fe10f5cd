/** The first key that a user can have: the empty one is the service's own. */
export const FIRST_KEY = Buffer.from([0])

const LAST_POINT = 0x10ffff
/** What follows it in UTF-8 is U+E000: surrogates have no UTF-8. */
const BEFORE_SURROGATES = 0xd7ff
const AFTER_SURROGATES = 0xe000

/**
 * The first string behind all those that begin with `prefix`, in the order of UTF-8; nothing where there is none. Bytes of
 * UTF-8 have the order of code points, so this is the last code point plus one, and stays UTF-8 where a byte plus one is not.
 */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!)
  while (points.at(-1) === LAST_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  return String.fromCodePoint(...points, last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1)
}

/** The first key behind a key. */
export const keyAfter = (key: Buffer): Buffer => Buffer.concat([key, FIRST_KEY])
