import { createHash } from 'node:crypto'

/** Random choices that depend only on a seed. */
export interface SeededRandom {
  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number
  /** Returns an integer from `from` to `to`, both included. */
  between(from: number, to: number): number
  /** True in `share` of 100 cases. */
  percent(share: number): boolean
  pick<T>(from: readonly T[]): T
  /** Returns the items in another order. */
  shuffle<T>(items: readonly T[]): T[]
  /** Returns an independent generator. Draws of one part do not change those of the others. */
  fork(name: string): SeededRandom
}

/** Creates a generator with the same choices for the same seed (xorshift128, seeded by a hash). */
export function createRandom(seed: string): SeededRandom {
  const hash = createHash('sha256').update(seed).digest()
  const words = Uint32Array.from([0, 4, 8, 12], (offset) => hash.readUInt32LE(offset))
  function next(): number {
    let first = words[3]!
    const last = words[0]!
    words.copyWithin(1, 0, 3)
    first ^= first << 11
    first ^= first >>> 8
    words[0] = first ^ last ^ (last >>> 19)
    return words[0] / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    between: (from, to) => from + below(to - from + 1),
    percent: (share) => below(100) < share,
    pick: (from) => from[below(from.length)]!,
    shuffle: (items) =>
      items
        .map((item) => ({ item, key: next() }))
        .sort((a, b) => a.key - b.key)
        .map(({ item }) => item),
    fork: (name) => createRandom(`${seed}/${name}`),
  }
}
