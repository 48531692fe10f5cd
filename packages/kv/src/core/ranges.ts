/** Keys from `start` on, before `end`; as strings of one character a byte, which compare as their bytes do. */
export interface KeyRange {
  readonly start: string
  /** Nothing: to the last. */
  readonly end?: string
}

export const isIn = ({ start, end }: KeyRange, key: string): boolean => start <= key && (end === undefined || key < end)

interface Node<T> {
  readonly range: KeyRange
  readonly value: T
  readonly priority: number
  left: Node<T> | undefined
  right: Node<T> | undefined
  /** The largest end below here; nothing: one has none. */
  reach: string | undefined
}

/**
 * Finds the ranges that a key is in, among many: a search tree over where they start, kept even by chance (a treap), in
 * which each node knows how far those below it reach. No two of its ranges are alike.
 */
export class Ranges<T> {
  #root: Node<T> | undefined

  add(range: KeyRange, value: T): void {
    const node = { range, value, priority: Math.random(), left: undefined, right: undefined, reach: range.end }
    this.#root = insert(this.#root, node)
  }

  delete(range: KeyRange): void {
    this.#root = remove(this.#root, range)
  }

  /** Tells the values of all ranges that the key is in. */
  find(key: string, tell: (value: T) => void): void {
    find(this.#root, key, tell)
  }
}

function find<T>(node: Node<T> | undefined, key: string, tell: (value: T) => void): void {
  if (!node || (node.reach !== undefined && node.reach <= key)) return
  find(node.left, key, tell)
  const { range, value } = node
  if (range.start > key) return
  if (isIn(range, key)) tell(value)
  find(node.right, key, tell)
}

function insert<T>(node: Node<T> | undefined, added: Node<T>): Node<T> {
  if (!node) return added
  if (isBefore(added.range, node.range)) {
    node.left = insert(node.left, added)
    return settle(node.left.priority > node.priority ? rotateRight(node) : node)
  }
  node.right = insert(node.right, added)
  return settle(node.right.priority > node.priority ? rotateLeft(node) : node)
}

function remove<T>(node: Node<T> | undefined, range: KeyRange): Node<T> | undefined {
  if (!node) return undefined
  if (isBefore(range, node.range)) node.left = remove(node.left, range)
  else if (isBefore(node.range, range)) node.right = remove(node.right, range)
  else return join(node.left, node.right)
  return settle(node)
}

/** One tree of two, of which all of the first comes before all of the second. */
function join<T>(first: Node<T> | undefined, second: Node<T> | undefined): Node<T> | undefined {
  if (!first || !second) return first ?? second
  if (first.priority > second.priority) {
    first.right = join(first.right, second)
    return settle(first)
  }
  second.left = join(first, second.left)
  return settle(second)
}

function rotateRight<T>(node: Node<T>): Node<T> {
  const top = node.left!
  node.left = top.right
  top.right = settle(node)
  return top
}

function rotateLeft<T>(node: Node<T>): Node<T> {
  const top = node.right!
  node.right = top.left
  top.left = settle(node)
  return top
}

function settle<T>(node: Node<T>): Node<T> {
  const { range, left, right } = node
  node.reach = further(range.end, further(left ? left.reach : '', right ? right.reach : ''))
  return node
}

function further(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return undefined
  return a > b ? a : b
}

function isBefore(a: KeyRange, b: KeyRange): boolean {
  if (a.start !== b.start) return a.start < b.start
  if (a.end === b.end) return false
  return a.end !== undefined && (b.end === undefined || a.end < b.end)
}
