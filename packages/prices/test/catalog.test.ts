import { answersKey, createBlockStore } from '../src/block-store.ts'
import type { Blocks } from '../src/catalog/catalog.ts'
import { BLOCK_BYTES } from '../src/core/answers.ts'
import { openPricesLevel } from '../src/database.ts'
import { parts, SHARED_CATALOGS } from '../src/parts.ts'
import { catalogConformance } from './catalog.conformance.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

const GENERATION = 1
const KEPT = 3

for (const [name, create] of Object.entries(parts.catalog)) {
  catalogConformance(name, async (blocks) => {
    const level = await openPricesLevel(temporaryFolder())
    const { db } = level
    async function write(some: ReadonlyMap<number, Uint8Array>): Promise<Blocks> {
      for (const [number, bytes] of some)
        await db.put(answersKey(GENERATION, number), bytes as never, { valueEncoding: 'view' })
      return SHARED_CATALOGS.includes(name)
        ? new Map(some)
        : new Map(Array.from(some.keys(), (number) => [number, undefined]))
    }
    const told = await write(blocks)
    const store = createBlockStore(db, GENERATION)
    const catalog = await create({ blocks: told, store, cacheBytes: KEPT * BLOCK_BYTES })
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
