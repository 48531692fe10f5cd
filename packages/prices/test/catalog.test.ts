import { AnswerBlock, BLOCK_ROWS, blockOf, PAGE_BYTES, PAGE_ROWS, pageOf } from '../src/core/answers.ts'
import { NO_ANSWERS, type AnswerChange } from '../src/core/held-answers.ts'
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
    const now = new Map(Array.from(blocks, ([number, bytes]) => [number, new AnswerBlock(bytes.slice())]))
    async function writePages(rows: readonly number[]): Promise<Map<number, undefined>> {
      const pages = new Set(rows.map(pageOf))
      for (const number of pages) {
        const bytes = now.get(blockOf(number * PAGE_ROWS))!.page(number)
        await db.put(answersKey(GENERATION, number), bytes as never, { valueEncoding: 'view' })
      }
      return new Map(Array.from(pages, (number) => [number, undefined]))
    }
    const holds = SHARED_CATALOGS.includes(name)
    async function write(some: ReadonlyMap<number, Uint8Array>): Promise<AnswerChange> {
      for (const [number, bytes] of some) now.set(number, new AnswerBlock(bytes.slice()))
      const rows = Array.from(some.keys(), (number) =>
        Array.from({ length: BLOCK_ROWS }, (_, i) => number * BLOCK_ROWS + i),
      )
      const pages = await writePages(rows.flat())
      return { ...NO_ANSWERS, blocks: holds ? new Map(some) : pages }
    }
    async function writeRows(some: ReadonlyMap<number, Uint8Array>): Promise<AnswerChange> {
      for (const [row, bytes] of some) {
        const block = now.get(blockOf(row))!
        block.row(block.slotOf(row)).set(bytes)
      }
      const pages = await writePages([...some.keys()])
      if (!holds) return { ...NO_ANSWERS, blocks: pages }
      return { ...NO_ANSWERS, rows: [...some.keys()], bytes: Buffer.concat([...some.values()]) }
    }
    const told = await write(blocks)
    const store = createPageStore(db, GENERATION)
    const catalog = await create({ answers: told, store, cacheBytes: KEPT * PAGE_BYTES })
    return {
      catalog,
      write,
      writeRows,
      async close() {
        await catalog.close()
        await store.close()
        await level.close()
      },
    }
  })
}
