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

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const hex16 = (number: number) => BYTES[number >> 8]! + BYTES[number & 255]!

/** A seeded UUID of version 4. */
export function seededUuid(random: (below: number) => number): string {
  const next = () => hex16(random(0x1_0000))
  const version = hex16(0x4000 + random(0x1000))
  const variant = hex16(0x8000 + random(0x4000))
  return `${next()}${next()}-${next()}-${version}-${variant}-${next()}${next()}${next()}`
}
