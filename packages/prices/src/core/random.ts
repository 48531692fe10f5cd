/** A seeded generator (mulberry32): the same numbers in every run. @returns integers from 0 to `below` - 1 */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

const hexOf = (number: number, digits: number) => number.toString(16).padStart(digits, '0')

/** A seeded UUID of version 4. */
export function seededUuid(random: (below: number) => number): string {
  const word = 0x1_0000_0000
  const half = 0x1_0000
  const [a, b, c, d] = [random(word), random(half), random(0x1000), random(0x4000)]
  const [e, f] = [random(word), random(half)]
  return `${hexOf(a, 8)}-${hexOf(b, 4)}-4${hexOf(c, 3)}-${hexOf(0x8000 + d, 4)}-${hexOf(e, 8)}${hexOf(f, 4)}`
}
