import type { Blocks } from '../src/catalog/catalog.ts'
import { AnswerBlock, BLOCK_ROWS, PAGE_BYTES, PAGE_ROWS, pageOf } from '../src/core/answers.ts'
import { openPricesLevel } from '../src/database.ts'
import { answersKey, createPageStore } from '../src/page-store.ts'
import { parts, SHARED_CATALOGS } from '../src/parts.ts'
import { catalogConformance } from './catalog.conformance.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

const GENERATION = 1
/** Fewer than are looked at. */
const KEPT = 12

for (const [name, create] of Object.entries(parts.catalog)) {
  catalogConformance(name, async (blocks) => {
    const level = await openPricesLevel(temporaryFolder())
    const { db } = level
    async function write(some: ReadonlyMap<number, Uint8Array>): Promise<Blocks> {
      const pages = new Map<number, undefined>()
      for (const [number, bytes] of some)
        for (let row = number * BLOCK_ROWS; row < (number + 1) * BLOCK_ROWS; row += PAGE_ROWS) {
          const page = new AnswerBlock(bytes).page(pageOf(row))
          await db.put(answersKey(GENERATION, pageOf(row)), page as never, { valueEncoding: 'view' })
          pages.set(pageOf(row), undefined)
        }
      return SHARED_CATALOGS.includes(name) ? new Map(some) : pages
    }
    const told = await write(blocks)
    const store = createPageStore(db, GENERATION)
    const catalog = await create({ blocks: told, store, cacheBytes: KEPT * PAGE_BYTES })
    return {
      catalog,
      write,
      async close() {
        await catalog.close()
        await store.close()
        await level.close()
      },
    }
  })
}
