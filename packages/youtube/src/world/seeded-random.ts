/**
 * Returns a generator of pseudo-random numbers from 0 (inclusive) to 1 (exclusive). The same text always gives the same
 * numbers, so all threads invent the same videos.
 */
export function createSeededRandom(text: string): () => number {
  // FNV-1a gives the seed, mulberry32 the sequence.
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
