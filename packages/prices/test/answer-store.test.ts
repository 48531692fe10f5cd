import {
  AnswerBlock,
  BLOCK_ROWS,
  toBlockNumber,
  PAGE_BYTES,
  PAGE_ROWS,
  toPageNumber,
} from '../src/core/answer-block.ts'
import { NO_ANSWERS, type AnswerChange } from '../src/answer-store/answer-table.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import { toAnswersKey, createPageStore } from '../src/storage/page-store.ts'
import { parts, SHARED_STORES } from '../src/parts.ts'
import { testAnswerStore } from './answer-store.conformance.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const GENERATION = 1
/** Fewer pages than the test reads. */
const CACHED_PAGES = 12

for (const [name, create] of Object.entries(parts.catalog)) {
  testAnswerStore(name, async (blocks) => {
    const level = await openPricesLevel(createTemporaryFolder())
    const { db } = level
    const now = new Map(Array.from(blocks, ([number, bytes]) => [number, new AnswerBlock(bytes.slice())]))
    async function writePages(rows: readonly number[]): Promise<Map<number, undefined>> {
      const pages = new Set(rows.map(toPageNumber))
      for (const number of pages) {
        const bytes = now.get(toBlockNumber(number * PAGE_ROWS))!.getPage(number)
        await db.put(toAnswersKey(GENERATION, number), bytes as never, { valueEncoding: 'view' })
      }
      return new Map(Array.from(pages, (number) => [number, undefined]))
    }
    const holds = SHARED_STORES.includes(name)
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
        const block = now.get(toBlockNumber(row))!
        block.getRow(block.toSlot(row)).set(bytes)
      }
      const pages = await writePages([...some.keys()])
      if (!holds) return { ...NO_ANSWERS, blocks: pages }
      return { ...NO_ANSWERS, rows: [...some.keys()], bytes: Buffer.concat([...some.values()]) }
    }
    const answers = await write(blocks)
    const store = createPageStore(db, GENERATION)
    const catalog = await create({ answers: answers, store, cacheBytes: CACHED_PAGES * PAGE_BYTES })
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
