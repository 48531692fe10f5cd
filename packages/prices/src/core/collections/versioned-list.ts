const CHUNK_BITS = 8
const CHUNK_SIZE = 1 << CHUNK_BITS

type Chunk<T> = readonly (T | undefined)[]

/**
 * An immutable list by number, with holes. `with` creates a changed list that shares all unchanged chunks: its cost
 * depends mainly on the size of the change, not of the list.
 */
export class VersionedList<T> {
  readonly #chunks: readonly (Chunk<T> | undefined)[]

  private constructor(chunks: readonly (Chunk<T> | undefined)[]) {
    this.#chunks = chunks
  }

  static fromEntries<T>(entries: Iterable<readonly [number: number, one: T | undefined]>): VersionedList<T> {
    return new VersionedList<T>([]).with(entries)
  }

  get(number: number): T | undefined {
    return this.#chunks[number >>> CHUNK_BITS]?.[number & (CHUNK_SIZE - 1)]
  }

  /** Yields all entries that exist, by number. */
  *entries(): Generator<[number: number, one: T]> {
    for (const [at, chunk] of this.#chunks.entries())
      for (const [i, one] of (chunk ?? []).entries()) if (one !== undefined) yield [(at << CHUNK_BITS) | i, one]
  }

  /** Returns the list with these entries replaced. This list does not change. */
  with(entries: Iterable<readonly [number: number, one: T | undefined]>): VersionedList<T> {
    const chunks = this.#chunks.slice()
    const copies = new Map<number, (T | undefined)[]>()
    for (const [number, one] of entries) {
      const at = number >>> CHUNK_BITS
      let chunk = copies.get(at)
      if (!chunk) {
        chunk = chunks[at]?.slice() ?? Array.from({ length: CHUNK_SIZE }, () => undefined)
        copies.set(at, chunk)
        while (chunks.length < at) chunks.push(undefined)
        chunks[at] = chunk
      }
      chunk[number & (CHUNK_SIZE - 1)] = one
    }
    return new VersionedList(chunks)
  }
}
