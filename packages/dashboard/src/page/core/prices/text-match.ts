/** The form in which prices compares texts: width, ligatures and case do not matter. */
const simplify = (text: string) => text.normalize('NFKC').toLowerCase()

export const containsText = (text: string, part: string): boolean => simplify(text).includes(simplify(part))

/** 0 if a text begins with the part, 1 if a word does, otherwise 2. Both are simplified. */
function rank(text: string, part: string): number {
  if (text.startsWith(part)) return 0
  return text.includes(` ${part}`) ? 1 : 2
}

/** Orders texts: first those that begin with the part, then those with a word that does. Otherwise their order remains. */
export function sortByMatch<T extends { readonly text: string }>(options: readonly T[], part: string): T[] {
  const simple = simplify(part)
  const ranked = options.map((option) => ({ option, rank: rank(simplify(option.text), simple) }))
  return ranked.sort((a, b) => a.rank - b.rank).map(({ option }) => option)
}
