import { LRUCache } from 'lru-cache'
import { AnswerBlock, PAGE_BYTES, toPageNumber } from '../core/answer-block.ts'
import type { AnswerChange } from './answer-table.ts'
import type { AnswerStore, AnswerStoreOptions, PageStore } from './answer-store.ts'

type PageCache = LRUCache<number, AnswerBlock>

/** Answers in LevelDB. Each thread has its own LRU cache of pages. */
export function createLruLevelStore({ store, cacheBytes }: AnswerStoreOptions): AnswerStore {
  const max = Math.max(1, Math.floor(cacheBytes / PAGE_BYTES))
  return new LruAnswerStore(store, max, new LRUCache({ max }))
}

class LruAnswerStore implements AnswerStore {
  readonly #store: PageStore
  readonly #max: number
  #cache: PageCache | undefined

  constructor(store: PageStore, max: number, cache: PageCache) {
    this.#store = store
    this.#max = max
    this.#cache = cache
  }

  getBlock(row: number): AnswerBlock {
    // An older store that has passed its cache to the next one starts with an empty cache.
    const cache = (this.#cache ??= new LRUCache({ max: this.#max }))
    const number = toPageNumber(row)
    let page = cache.get(number)
    if (!page) cache.set(number, (page = new AnswerBlock(this.#store.read(number))))
    return page
  }

  with({ blocks: pages }: AnswerChange): AnswerStore {
    const cache: PageCache = this.#cache ?? new LRUCache({ max: this.#max })
    this.#cache = undefined
    for (const number of pages.keys()) cache.delete(number)
    return new LruAnswerStore(this.#store.renew(), this.#max, cache)
  }

  async close(): Promise<void> {
    this.#cache = undefined
    await this.#store.close()
  }
}
