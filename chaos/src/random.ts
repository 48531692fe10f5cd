/** Random numbers that are determined by a seed. */
export interface SeededRandom {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number
  /** One of the elements. */
  one<T>(from: readonly T[]): T
  /** Independent random numbers for a part of a test. Their use does not change the numbers of other parts. */
  part(name: string): SeededRandom
}

/** Creates random numbers. The same seed gives the same numbers (FNV-1a, then mulberry32). */
export function createRandom(seed: string): SeededRandom {
  let state = 0x811c9dc5
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193)
  function below(limit: number): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return {
    below,
    one: (from) => from[below(from.length)]!,
    part: (name) => createRandom(`${seed}/${name}`),
  }
}
