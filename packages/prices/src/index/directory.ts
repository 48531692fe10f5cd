/** Maps integers to small integers within a flat array, so that it can lie in shared memory. */
export interface Directory {
  readonly cells: Int32Array
  readonly mask: number
}

const EMPTY = -1
// Spreads neighbours: terms of one characteristic follow each other.
const FIBONACCI = 0x9e37_79b1

const placeOf = (key: number, mask: number) => (Math.imul(key, FIBONACCI) >>> 11) & mask

/** How many cells a directory of so many keys takes. */
export function cellsFor(keys: number): number {
  let capacity = 2
  while (capacity < keys * 2) capacity *= 2
  return capacity * 2
}

/** Writes keys (all but -1) and their positions in the list. */
export function writeDirectory(cells: Int32Array, keys: readonly number[]): void {
  const mask = cells.length / 2 - 1
  cells.fill(EMPTY)
  keys.forEach((key, position) => {
    let slot = placeOf(key, mask)
    while (cells[2 * slot] !== EMPTY) slot = (slot + 1) & mask
    cells[2 * slot] = key
    cells[2 * slot + 1] = position
  })
}

export const readDirectory = (cells: Int32Array): Directory => ({ cells, mask: cells.length / 2 - 1 })

/** The position of a key, or -1. */
export function positionOf({ cells, mask }: Directory, key: number): number {
  let slot = placeOf(key, mask)
  for (;;) {
    const found = cells[2 * slot]!
    if (found === key) return cells[2 * slot + 1]!
    if (found === EMPTY) return -1
    slot = (slot + 1) & mask
  }
}
