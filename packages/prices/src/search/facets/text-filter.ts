// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/

/**
 * Returns a text in the form in which texts are compared: NFKC, in which forms of width are equal, and upper case. Lower
 * case would depend on the position of a letter (the Greek sigma). Upper case can undo NFKC, so it is normalized again.
 */
const fold = (text: string): string =>
  ASCII.test(text) ? text.toUpperCase() : text.normalize('NFKC').toUpperCase().normalize('NFKC')

/** Tests whether a text contains a part, in any case and Unicode form. */
export type TextFilter = (text: string) => boolean

export function createTextFilter(part: string): TextFilter {
  const folded = fold(part)
  return (text) => fold(text).includes(folded)
}
