/**
 * Keys from `start` (inclusive) to `end` (exclusive). The strings have one character per byte, so they sort like bytes.
 */
export interface KeyRange {
  readonly start: string
  /** Without it, the range extends to the last key. */
  readonly end?: string
}

export const isInRange = ({ start, end }: KeyRange, key: string): boolean =>
  start <= key && (end === undefined || key < end)

interface RangeNode<T> {
  readonly range: KeyRange
  readonly value: T
  readonly priority: number
  left: RangeNode<T> | undefined
  right: RangeNode<T> | undefined
  /** Largest end in this subtree; `undefined` if one of its ranges has no end. */
  maxEnd: string | undefined
}

/**
 * Finds the ranges that contain a key, among many ranges. It is an interval tree: a search tree over the starts of the
 * ranges, in which each node has the largest end in its subtree. Random priorities balance it (a treap). No two ranges
 * are equal.
 */
export class RangeTree<T> {
  #root: RangeNode<T> | undefined

  add(range: KeyRange, value: T): void {
    const node = { range, value, priority: Math.random(), left: undefined, right: undefined, maxEnd: range.end }
    this.#root = insert(this.#root, node)
  }

  delete(range: KeyRange): void {
    this.#root = remove(this.#root, range)
  }

  /** Calls `onFound` with the value of every range that contains the key. */
  findRanges(key: string, onFound: (value: T) => void): void {
    findRanges(this.#root, key, onFound)
  }
}

function findRanges<T>(node: RangeNode<T> | undefined, key: string, onFound: (value: T) => void): void {
  if (!node || (node.maxEnd !== undefined && node.maxEnd <= key)) return
  findRanges(node.left, key, onFound)
  const { range, value } = node
  if (range.start > key) return
  if (isInRange(range, key)) onFound(value)
  findRanges(node.right, key, onFound)
}

function insert<T>(node: RangeNode<T> | undefined, inserted: RangeNode<T>): RangeNode<T> {
  if (!node) return inserted
  if (isBefore(inserted.range, node.range)) {
    node.left = insert(node.left, inserted)
    return updateMaxEnd(node.left.priority > node.priority ? rotateRight(node) : node)
  }
  node.right = insert(node.right, inserted)
  return updateMaxEnd(node.right.priority > node.priority ? rotateLeft(node) : node)
}

function remove<T>(node: RangeNode<T> | undefined, range: KeyRange): RangeNode<T> | undefined {
  if (!node) return undefined
  if (isBefore(range, node.range)) node.left = remove(node.left, range)
  else if (isBefore(node.range, range)) node.right = remove(node.right, range)
  else return join(node.left, node.right)
  return updateMaxEnd(node)
}

/** Joins two trees. All ranges of the first tree sort before those of the second. */
function join<T>(first: RangeNode<T> | undefined, second: RangeNode<T> | undefined): RangeNode<T> | undefined {
  if (!first || !second) return first ?? second
  if (first.priority > second.priority) {
    first.right = join(first.right, second)
    return updateMaxEnd(first)
  }
  second.left = join(first, second.left)
  return updateMaxEnd(second)
}

function rotateRight<T>(node: RangeNode<T>): RangeNode<T> {
  const top = node.left!
  node.left = top.right
  top.right = updateMaxEnd(node)
  return top
}

function rotateLeft<T>(node: RangeNode<T>): RangeNode<T> {
  const top = node.right!
  node.right = top.left
  top.left = updateMaxEnd(node)
  return top
}

function updateMaxEnd<T>(node: RangeNode<T>): RangeNode<T> {
  const { range, left, right } = node
  node.maxEnd = getLaterEnd(range.end, getLaterEnd(left ? left.maxEnd : '', right ? right.maxEnd : ''))
  return node
}

function getLaterEnd(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return undefined
  return a > b ? a : b
}

function isBefore(a: KeyRange, b: KeyRange): boolean {
  if (a.start !== b.start) return a.start < b.start
  if (a.end === b.end) return false
  return a.end !== undefined && (b.end === undefined || a.end < b.end)
}
