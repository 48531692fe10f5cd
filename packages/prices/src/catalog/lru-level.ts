import { LRUCache } from 'lru-cache'
import { AnswerBlock, PAGE_BYTES, pageOf } from '../core/answers.ts'
import type { AnswerChange } from '../core/held-answers.ts'
import type { Catalog, CatalogOptions, PageStore } from './catalog.ts'

type Cache = LRUCache<number, AnswerBlock>

/** Answers in LevelDB; the pages used last are kept, by each thread for itself. */
export function createLruLevelCatalog({ store, cacheBytes }: CatalogOptions): Catalog {
  const max = Math.max(1, Math.floor(cacheBytes / PAGE_BYTES))
  return new LruCatalog(store, max, new LRUCache({ max }))
}

class LruCatalog implements Catalog {
  readonly #store: PageStore
  readonly #max: number
  #cache: Cache | undefined

  constructor(store: PageStore, max: number, cache: Cache) {
    this.#store = store
    this.#max = max
    this.#cache = cache
  }

  blockWith(row: number): AnswerBlock {
    // Whoever still holds a catalog that has given its pages to the next one begins with none.
    const cache = (this.#cache ??= new LRUCache({ max: this.#max }))
    const number = pageOf(row)
    let page = cache.get(number)
    if (!page) cache.set(number, (page = new AnswerBlock(this.#store.read(number))))
    return page
  }

  with({ blocks: pages }: AnswerChange): Catalog {
    const cache: Cache = this.#cache ?? new LRUCache({ max: this.#max })
    this.#cache = undefined
    for (const number of pages.keys()) cache.delete(number)
    return new LruCatalog(this.#store.renew(), this.#max, cache)
  }

  async close(): Promise<void> {
    this.#cache = undefined
    await this.#store.close()
  }
}
