import { LRUCache } from 'lru-cache'
import { AnswerBlock, BLOCK_BYTES } from '../core/answers.ts'
import type { BlockStore, Catalog, CatalogOptions } from './catalog.ts'

/** Answers in LevelDB; the blocks used last are kept, by each thread for itself. */
export function createLruLevelCatalog({ store, cacheBytes }: CatalogOptions): Catalog {
  const max = Math.max(1, Math.floor(cacheBytes / BLOCK_BYTES))
  return new LruCatalog(store, new LRUCache({ max }), max)
}

class LruCatalog implements Catalog {
  readonly #store: BlockStore
  readonly #cache: LRUCache<number, AnswerBlock>
  readonly #max: number

  constructor(store: BlockStore, cache: LRUCache<number, AnswerBlock>, max: number) {
    this.#store = store
    this.#cache = cache
    this.#max = max
  }

  block(number: number): AnswerBlock {
    let block = this.#cache.get(number)
    if (!block) this.#cache.set(number, (block = new AnswerBlock(this.#store.read(number))))
    return block
  }

  with(changed: ReadonlyMap<number, unknown>): Catalog {
    const cache = new LRUCache<number, AnswerBlock>({ max: this.#max })
    // From the least to the most recently used, so that the order stays.
    for (const [number, block] of [...this.#cache.entries()].toReversed())
      if (!changed.has(number)) cache.set(number, block)
    return new LruCatalog(this.#store.renew(), cache, this.#max)
  }

  async close(): Promise<void> {
    this.#cache.clear()
    await this.#store.close()
  }
}
