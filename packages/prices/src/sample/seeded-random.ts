import { ID_BYTES } from '../core/answer-block.ts'
import { formatUuid } from '../core/values/uuid.ts'

/**
 * Creates a seeded generator (mulberry32) with the same numbers in every run.
 * @returns a function that returns integers from 0 to `below` - 1
 */
export function createSeededRandom(seed: number): (below: number) => number {
  let state = seed | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

const PAIR_OFFSETS = [0, 2, 4, 10, 12, 14]

/** Returns the bytes of a seeded UUID of version 4. */
export function drawId(random: (below: number) => number, into: Uint8Array = new Uint8Array(ID_BYTES)): Uint8Array {
  const put = (at: number, pair: number) => {
    into[at] = pair >> 8
    into[at + 1] = pair & 255
  }
  put(6, 0x4000 + random(0x1000))
  put(8, 0x8000 + random(0x4000))
  for (const at of PAIR_OFFSETS) put(at, random(0x1_0000))
  return into
}

/** Returns a seeded UUID of version 4. */
export const drawUuid = (random: (below: number) => number): string => formatUuid(drawId(random))
