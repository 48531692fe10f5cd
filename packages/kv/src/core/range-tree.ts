/** Keys from `start` on, before `end`; as strings of one character a byte, which compare as their bytes do. */
export interface KeyRange {
  readonly start: string
  /** Nothing: to the last. */
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
  /** The largest end below here; nothing: one has none. */
  maxEnd: string | undefined
}

/**
 * Finds the ranges that a key is in, among many: a search tree over where they start, kept even by chance (a treap), in
 * which each node knows how far those below it reach. No two of its ranges are alike.
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

  /** Tells the values of all ranges that the key is in. */
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
    return updateReach(node.left.priority > node.priority ? rotateRight(node) : node)
  }
  node.right = insert(node.right, inserted)
  return updateReach(node.right.priority > node.priority ? rotateLeft(node) : node)
}

function remove<T>(node: RangeNode<T> | undefined, range: KeyRange): RangeNode<T> | undefined {
  if (!node) return undefined
  if (isBefore(range, node.range)) node.left = remove(node.left, range)
  else if (isBefore(node.range, range)) node.right = remove(node.right, range)
  else return join(node.left, node.right)
  return updateReach(node)
}

/** One tree of two, of which all of the first comes before all of the second. */
function join<T>(first: RangeNode<T> | undefined, second: RangeNode<T> | undefined): RangeNode<T> | undefined {
  if (!first || !second) return first ?? second
  if (first.priority > second.priority) {
    first.right = join(first.right, second)
    return updateReach(first)
  }
  second.left = join(first, second.left)
  return updateReach(second)
}

function rotateRight<T>(node: RangeNode<T>): RangeNode<T> {
  const top = node.left!
  node.left = top.right
  top.right = updateReach(node)
  return top
}

function rotateLeft<T>(node: RangeNode<T>): RangeNode<T> {
  const top = node.right!
  node.right = top.left
  top.left = updateReach(node)
  return top
}

function updateReach<T>(node: RangeNode<T>): RangeNode<T> {
  const { range, left, right } = node
  node.maxEnd = getFurther(range.end, getFurther(left ? left.maxEnd : '', right ? right.maxEnd : ''))
  return node
}

function getFurther(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return undefined
  return a > b ? a : b
}

function isBefore(a: KeyRange, b: KeyRange): boolean {
  if (a.start !== b.start) return a.start < b.start
  if (a.end === b.end) return false
  return a.end !== undefined && (b.end === undefined || a.end < b.end)
}
