/** A character of 1, 2, 3 and 4 bytes. */
const CHARACTERS = ['a', 'é', '日', '🎈'] as const

/**
 * Keys of exactly the given bytes, for each width of a character and each position at which a buffer can cut the last one.
 * Keys of the same length differ from their first character on.
 */
export function createKeys(bytes: number): string[] {
  const keys: string[] = []
  for (const [i, character] of CHARACTERS.entries()) {
    const width = i + 1
    for (let offset = 0; offset < width && offset <= bytes; offset++) {
      const count = Math.floor((bytes - offset) / width)
      const rest = bytes - offset - count * width
      const key = 'xyz'.slice(0, offset) + character.repeat(count) + '123'.slice(0, rest)
      if (key !== '') keys.push(key)
    }
  }
  return [...new Set(keys)]
}
