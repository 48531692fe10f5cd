import type { CatalogContent } from './catalog-content.ts'

/** Limits above which the catalog is rewritten without the data that no price has any more. */
export interface CompactionLimits {
  /** Number of unused terms, and of unused answer words, that are always allowed. */
  readonly unused: number
  /** Number of rows of deleted prices that are always allowed. */
  readonly deletedRows: number
  /** Number of unused terms per used term, and of rows of deleted prices per price, that are always allowed. */
  readonly perUsed: number
}

export const COMPACTION_LIMITS: CompactionLimits = { unused: 16_384, deletedRows: 65_536, perUsed: 1 }

/** A rewrite takes time in proportion to the rows. So the more rows there are, the more unused terms are allowed. */
const ROWS_PER_UNUSED = 16

/**
 * Decides when to rewrite the catalog: when its unused terms, or its unused answer words, outnumber the used ones, a
 * sixteenth of the rows, and a constant limit; or when the rows of deleted prices outnumber the prices and a limit.
 */
export class CompactionTrigger {
  readonly #content: CatalogContent
  readonly #limits: CompactionLimits
  /** Up to this number of these words, too few of them can be unused. */
  #maxWords = 0
  #countedWords: unknown

  constructor(content: CatalogContent, limits: CompactionLimits) {
    this.#content = content
    this.#limits = limits
  }

  async isDue(): Promise<boolean> {
    const { rows, size, counts, terms, words } = this.#content
    const { deletedRows, perUsed } = this.#limits
    if (rows - size > Math.max(deletedRows, size * perUsed)) return true
    if (terms.list.length - counts.used > this.#getMaxUnused(counts.used)) return true
    const maxWords = words === this.#countedWords ? this.#maxWords : this.#limits.unused
    return words.list.length > maxWords && (await this.#hasUnusedWords())
  }

  #getMaxUnused(used: number): number {
    return Math.max(this.#limits.unused, used * this.#limits.perUsed, this.#content.rows / ROWS_PER_UNUSED)
  }

  /** Counts the used words. This takes a while, so the next count is when enough words were added to change the result. */
  async #hasUnusedWords(): Promise<boolean> {
    const { words } = this.#content
    const used = new Set<number>()
    await this.#content.forEachPrice((_, block, slot) => {
      for (const word of block.listWords(slot)) used.add(word)
    })
    const left = this.#getMaxUnused(used.size) - (words.list.length - used.size)
    this.#maxWords = words.list.length + left
    this.#countedWords = words
    return left < 0
  }
}
