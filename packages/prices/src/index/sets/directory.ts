/** A map of integers to small integers in a flat array, which can be in shared memory. */
export interface Directory {
  /** The first key in the list, and the length of the list. */
  readonly first: number
  readonly listed: number
  /** For each number from `first` on: the position of this key, or -1 if the directory does not have it. */
  readonly list: Int16Array
  /** The keys outside of the list and their positions. */
  readonly cells: Int32Array
  readonly mask: number
}

const EMPTY_CELL = -1
// Spreads neighbours, because the terms of one characteristic are consecutive.
const FIBONACCI = 0x9e37_79b1
const HEADER_CELLS = 2
/** Maximum ratio of a list's length to its keys. A list takes 2 bytes per number, the hash at least 16 per key. */
const MAX_LIST_RATIO = 8
const MAX_LISTED_KEYS = 0x7fff

const toSlot = (key: number, mask: number) => (Math.imul(key, FIBONACCI) >>> 11) & mask

/** Selects the keys that go into a list. There a lookup takes one cache line for 32 neighbours. */
function chooseList(keys: readonly number[]): { first: number; listed: number } {
  const terms = keys.filter((key) => key >= 0)
  const first = terms.reduce((min, key) => Math.min(min, key), Infinity)
  const listed = terms.reduce((max, key) => Math.max(max, key), -1) + 1 - first
  if (terms.length === 0 || listed > MAX_LIST_RATIO * terms.length || keys.length > MAX_LISTED_KEYS)
    return { first: 0, listed: 0 }
  return { first, listed }
}

const countListCells = (listed: number) => Math.ceil(listed / 2)

function countHashCells(keys: number): number {
  let capacity = 2
  while (capacity < keys * 2) capacity *= 2
  return capacity * 2
}

const countHashedKeys = (keys: readonly number[], first: number, listed: number) =>
  keys.filter((key) => key < first || key >= first + listed).length

/** Returns the number of cells of a directory of these keys. */
export function countDirectoryCells(keys: readonly number[]): number {
  const { first, listed } = chooseList(keys)
  return HEADER_CELLS + countListCells(listed) + countHashCells(countHashedKeys(keys, first, listed))
}

/** Writes keys, of which none is -1, with their positions in `keys`. */
export function writeDirectory(to: Int32Array, keys: readonly number[]): void {
  to.fill(EMPTY_CELL)
  const { first, listed } = chooseList(keys)
  to[0] = first
  to[1] = listed
  const { list, cells, mask } = readDirectory(to)
  keys.forEach((key, position) => {
    if (key >= first && key < first + listed) {
      list[key - first] = position
      return
    }
    let slot = toSlot(key, mask)
    while (cells[2 * slot] !== EMPTY_CELL) slot = (slot + 1) & mask
    cells[2 * slot] = key
    cells[2 * slot + 1] = position
  })
}

export function readDirectory(from: Int32Array): Directory {
  const first = from[0]!
  const listed = from[1]!
  const hash = HEADER_CELLS + countListCells(listed)
  const list = new Int16Array(from.buffer, from.byteOffset + 4 * HEADER_CELLS, listed)
  const cells = from.subarray(hash)
  return { first, listed, list, cells, mask: cells.length / 2 - 1 }
}

/** Returns the position of a key, or -1. */
export function findPosition({ first, listed, list, cells, mask }: Directory, key: number): number {
  const at = key - first
  if (at >= 0 && at < listed) return list[at]!
  let slot = toSlot(key, mask)
  for (;;) {
    const found = cells[2 * slot]!
    if (found === key) return cells[2 * slot + 1]!
    if (found === EMPTY_CELL) return -1
    slot = (slot + 1) & mask
  }
}

/** Returns every key with its position, in the order of positions. */
export function listKeys({ first, list, cells }: Directory): [key: number, position: number][] {
  const keys: [number, number][] = []
  list.forEach((position, i) => position !== EMPTY_CELL && keys.push([first + i, position]))
  for (let i = 0; i < cells.length; i += 2) if (cells[i] !== EMPTY_CELL) keys.push([cells[i]!, cells[i + 1]!])
  return keys.sort(([, a], [, b]) => a - b)
}
