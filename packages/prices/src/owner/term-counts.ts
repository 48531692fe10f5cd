import type { Row } from '../core/rows.ts'
import type { Term, Terms } from '../core/terms.ts'

/** How many rows have each term. */
export class TermCounts {
  readonly #terms: Terms
  readonly #counts: number[] = []

  constructor(terms: Terms) {
    this.#terms = terms
  }

  /** @param by 1 for a row that came, -1 for one that went */
  add(row: Row | undefined, by: 1 | -1): void {
    if (!row) return
    const counts = this.#counts
    for (const term of [row.offering, row.group, row.spec]) counts[term] = (counts[term] ?? 0) + by
    for (const term of row.values) {
      const { char } = this.#terms.list[term] as Term & { kind: 'value' }
      counts[term] = (counts[term] ?? 0) + by
      counts[char] = (counts[char] ?? 0) + by
    }
  }

  /** By term: 1 if some row has it. */
  live(): Uint8Array<SharedArrayBuffer> {
    const live = new Uint8Array(new SharedArrayBuffer(this.#terms.list.length))
    for (let term = 0; term < live.length; term++) live[term] = (this.#counts[term] ?? 0) > 0 ? 1 : 0
    return live
  }
}
