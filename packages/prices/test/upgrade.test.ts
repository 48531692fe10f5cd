import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { answersKey, META } from '../src/block-store.ts'
import { AnswerBlock, BLOCK_BYTES, BLOCK_ROWS } from '../src/core/answers.ts'
import { openPricesLevel } from '../src/database.ts'
import { priceOf, searchOf, startPrices } from './support/prices.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

const KINDS = 8 * BLOCK_ROWS
const IDS = 12 * BLOCK_ROWS

/** Writes what lies in a folder as the first version of the service did. */
async function downgrade(folder: string): Promise<void> {
  const level = await openPricesLevel(folder)
  const { db } = level
  const { generation, rows } = JSON.parse((await db.get(META))!)
  for (let number = 0; number * BLOCK_ROWS < rows; number++) {
    const key = answersKey(generation, number)
    const block = new AnswerBlock((await db.get(key, { valueEncoding: 'view' })) as never)
    const columns = Buffer.alloc(BLOCK_BYTES)
    for (let slot = 0; slot < BLOCK_ROWS; slot++) {
      columns.writeDoubleLE(block.value(slot), 8 * slot)
      columns.writeUInt32LE(block.kind(slot), KINDS + 4 * slot)
      columns.set(block.id(slot), IDS + 16 * slot)
    }
    await db.put(key, columns as never, { valueEncoding: 'view' })
  }
  await db.put(META, JSON.stringify({ generation, rows }))
  await level.close()
  writeFileSync(join(folder, 'format.json'), JSON.stringify({ service: 'prices', format: 1 }))
}

it.each(['memory', 'lru-level'])(
  'a catalog of the first format is read, and written on: catalog %s',
  async (catalog) => {
    const data = temporaryFolder()
    const many = Array.from({ length: BLOCK_ROWS + 50 }, (_, i) =>
      priceOf({ value: i / 4, priceSpecId: `spec ${i % 3}`, charValues: [{ char: 'n', value: i }] }),
    )
    const first = await startPrices({ data, catalog })
    await first.import(many)
    await first.stop()
    await downgrade(data)

    for (let start = 0; start < 2; start++) {
      const prices = await startPrices({ data, catalog })
      for (const price of many) {
        expect((await prices.search(searchOf(price))).body).toMatchObject({
          id: price.id,
          value: price.value,
          spec: price.priceSpecId,
        })
      }
      expect((await prices.ask('GET', `/prices/${many[7]!.id}`)).body).toMatchObject({ value: many[7]!.value })
      many[7] = { ...many[7]!, value: 1_000 + start }
      await prices.ask('PUT', `/prices/${many[7].id}`, many[7])
      await prices.stop()
    }
    // Older versions would not understand it, and are to refuse it.
    expect(JSON.parse(readFileSync(join(data, 'format.json'), 'utf8'))).toEqual({ service: 'prices', format: 2 })
  },
)
