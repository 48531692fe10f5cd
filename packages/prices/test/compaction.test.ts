import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, it } from 'vitest'
import type { Price } from '../src/core/price.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import { loadIndexes } from '../src/search/load-indexes.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createPrice, toUuid } from './support/prices.ts'
import { listPrices } from './support/state-machine.ts'
import { openTestCatalog, openTestStandalone } from './support/standalone.ts'

const LIMIT = 60
const NAMES = 600
const GROUP = 10

const createNamed = (n: number): Price =>
  createPrice({
    id: `id ${n}`,
    offeringId: `offering ${n}`,
    charValues: [{ char: 'c', value: `value ${n}` }],
    value: `1.${n}00000000000000000001` as never,
  })

async function open(folder: string, compaction = { unused: LIMIT, deletedRows: LIMIT, perUsed: 1 }) {
  const level = await openPricesLevel(folder)
  const indexes = await loadIndexes({ indexes: INDEXES })
  const catalog = await openTestCatalog(level, { compaction, indexes })
  return { catalog, level, ...(await openTestStandalone(catalog, level)) }
}

/** Returns the size of each part of a catalog's memory. */
function measure({
  terms,
  words,
  segments,
  rows,
  answers,
}: ReturnType<Awaited<ReturnType<typeof openTestCatalog>>['getState']>) {
  const sizes = Array.from(segments, ([name, { size }]) => [name, size])
  return {
    terms: terms.length,
    words: words.length,
    rows: rows.length,
    blocks: answers.blocks.size,
    ...Object.fromEntries(sizes),
  }
}

describe('the memory of a catalog', () => {
  it('follows its prices, however many names are added and deleted, also after a restart', async () => {
    const folder = createTemporaryFolder()
    let opened = await open(folder)
    const fixed = Array.from({ length: 5 }, (_, i) => createPrice({ id: toUuid(i), offeringId: 'fixed' }))
    for (const one of fixed) await opened.put(one)
    for (let n = 0; n < NAMES; n += GROUP) {
      const some = Array.from({ length: GROUP }, (_, i) => createNamed(n + i))
      await Promise.all(some.map((one) => opened.put(one)))
      await Promise.all(some.map(({ id }) => opened.remove(id)))
      const state = opened.catalog.getState()
      // Two rounds of changes can wait beyond the limit.
      for (const [part, size] of Object.entries<number>(measure(state)))
        expect([part, Math.min(size, 2 * LIMIT)]).toEqual([part, size])
      expect(opened.catalog.meta.rows).toBeLessThan(2 * LIMIT)
    }
    const listed = await listPrices(opened.catalog)
    expect(listed.map(({ id }) => id)).toEqual(fixed.map(({ id }) => id))
    await opened.close()
    await opened.level.close()
    opened = await open(folder, { unused: 0, deletedRows: 0, perUsed: 0 })
    expect(await listPrices(opened.catalog)).toEqual(listed)
    // An offering, a group and a spec; a kind.
    expect(measure(opened.catalog.getState())).toMatchObject({ terms: 3, words: 1, rows: 0, blocks: 1, bitset: 1 })
    await opened.close()
    await opened.level.close()
  })
})
