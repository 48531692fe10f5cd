/** Maps integers to small integers within a flat array, so that it can lie in shared memory. */
export interface Directory {
  /** The first key of the list, and how many keys from there on are in it. */
  readonly first: number
  readonly listed: number
  /** The position of each key in the list, or -1. */
  readonly list: Int16Array
  /** The keys outside of the list and their positions. */
  readonly cells: Int32Array
  readonly mask: number
}

const EMPTY = -1
// Spreads neighbours: terms of one characteristic follow each other.
const FIBONACCI = 0x9e37_79b1
const HEAD = 2
/** A list may have so many times as much room as keys: a cell of it takes an eighth of one in the hash, or less. */
const SPARSE = 8
const MOST_LISTED = 0x7fff

const placeOf = (key: number, mask: number) => (Math.imul(key, FIBONACCI) >>> 11) & mask

/** Which keys go into a list, where a look takes one line of the cache for 32 neighbours. */
function listOf(keys: readonly number[]): { first: number; listed: number } {
  const terms = keys.filter((key) => key >= 0)
  const first = terms.reduce((least, key) => Math.min(least, key), Infinity)
  const listed = terms.reduce((most, key) => Math.max(most, key), -1) + 1 - first
  if (terms.length === 0 || listed > SPARSE * terms.length || keys.length > MOST_LISTED) return { first: 0, listed: 0 }
  return { first, listed }
}

const listCells = (listed: number) => Math.ceil(listed / 2)

function hashCells(keys: number): number {
  let capacity = 2
  while (capacity < keys * 2) capacity *= 2
  return capacity * 2
}

const hashedOf = (keys: readonly number[], first: number, listed: number) =>
  keys.filter((key) => key < first || key >= first + listed).length

/** How many cells a directory of these keys takes. */
export function cellsFor(keys: readonly number[]): number {
  const { first, listed } = listOf(keys)
  return HEAD + listCells(listed) + hashCells(hashedOf(keys, first, listed))
}

/** Writes keys (all but -1) and their positions in the list. */
export function writeDirectory(to: Int32Array, keys: readonly number[]): void {
  to.fill(EMPTY)
  const { first, listed } = listOf(keys)
  to[0] = first
  to[1] = listed
  const { list, cells, mask } = readDirectory(to)
  keys.forEach((key, position) => {
    if (key >= first && key < first + listed) {
      list[key - first] = position
      return
    }
    let slot = placeOf(key, mask)
    while (cells[2 * slot] !== EMPTY) slot = (slot + 1) & mask
    cells[2 * slot] = key
    cells[2 * slot + 1] = position
  })
}

export function readDirectory(from: Int32Array): Directory {
  const first = from[0]!
  const listed = from[1]!
  const hash = HEAD + listCells(listed)
  const list = new Int16Array(from.buffer, from.byteOffset + 4 * HEAD, listed)
  const cells = from.subarray(hash)
  return { first, listed, list, cells, mask: cells.length / 2 - 1 }
}

/** The position of a key, or -1. */
export function positionOf({ first, listed, list, cells, mask }: Directory, key: number): number {
  const at = key - first
  if (at >= 0 && at < listed) return list[at]!
  let slot = placeOf(key, mask)
  for (;;) {
    const found = cells[2 * slot]!
    if (found === key) return cells[2 * slot + 1]!
    if (found === EMPTY) return -1
    slot = (slot + 1) & mask
  }
}

/** Every key with its position, in the order of positions. */
export function keysOf({ first, list, cells }: Directory): [key: number, position: number][] {
  const keys: [number, number][] = []
  list.forEach((position, i) => position !== EMPTY && keys.push([first + i, position]))
  for (let i = 0; i < cells.length; i += 2) if (cells[i] !== EMPTY) keys.push([cells[i]!, cells[i + 1]!])
  return keys.sort(([, a], [, b]) => a - b)
}
