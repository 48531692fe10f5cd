/** Returns the number of characters to insert, delete or replace to change one text into the other (Levenshtein). */
export function getEditDistance(from: string, to: string): number {
  // Distances between a prefix of `from` and each prefix of `to`.
  let distances = Array.from({ length: to.length + 1 }, (_, length) => length)
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const replaced = distances[j]! + Number(from[i] !== to[j])
      next.push(Math.min(replaced, distances[j + 1]! + 1, next[j]! + 1))
    }
    distances = next
  }
  return distances.at(-1)!
}
