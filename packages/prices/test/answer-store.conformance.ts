import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AnswerBlock, BLOCK_ROWS, PAGE_ROWS, ROW_BYTES, createSharedBlock } from '../src/core/answer-block.ts'
import { AnswerWords } from '../src/core/answer-words.ts'
import type { AnswerStore } from '../src/answer-store/answer-store.ts'
import type { AnswerChange } from '../src/answer-store/answer-table.ts'

const BLOCK_COUNT = 8
const NO_WORDS = new AnswerWords()

/** A block whose values encode its number and its version. */
export function createBlock(number: number, version = 0): Uint8Array {
  const block = new AnswerBlock(createSharedBlock())
  for (let slot = 0; slot < BLOCK_ROWS; slot++) {
    block.set(slot, new Uint8Array(16).fill(number), number * 1_000_000 + version * 1_000 + slot, version, NO_WORDS)
  }
  return block.bytes
}

/** A store over blocks that a test can write. */
export interface StoreFixture {
  readonly catalog: AnswerStore
  /** Writes blocks, and returns the argument of `with`. */
  write(blocks: ReadonlyMap<number, Uint8Array>): Promise<AnswerChange>
  /** Writes single rows and returns the argument of `with`: the answer data of each. */
  writeRows(rows: ReadonlyMap<number, Uint8Array>): Promise<AnswerChange>
  close(): Promise<void>
}

/** The requirements for every answer store. */
export function testAnswerStore(
  name: string,
  open: (blocks: ReadonlyMap<number, Uint8Array>) => Promise<StoreFixture>,
): void {
  describe(`catalog ${name}`, () => {
    let fixture: StoreFixture
    beforeEach(async () => {
      fixture = await open(new Map(Array.from({ length: BLOCK_COUNT }, (_, number) => [number, createBlock(number)])))
    })
    afterEach(() => fixture.close())

    const check = (catalog: AnswerStore, number: number, version = 0) => {
      for (const slot of [0, 7, PAGE_ROWS - 1, PAGE_ROWS, BLOCK_ROWS - 1]) {
        const row = number * BLOCK_ROWS + slot
        const block = catalog.getBlock(row)
        expect(block.getDouble(block.toSlot(row))).toBe(number * 1_000_000 + version * 1_000 + slot)
        expect(block.getKind(block.toSlot(row))).toBe(version)
        expect(block.getId(block.toSlot(row))[0]).toBe(number)
      }
    }

    it('returns every block, repeatedly and in any order', () => {
      for (let i = 0; i < 100; i++) check(fixture.catalog, (i * 5) % BLOCK_COUNT)
    })

    it('returns changed blocks, while the previous store stays unchanged', async () => {
      const { catalog } = fixture
      check(catalog, 1)
      const changed = await fixture.write(
        new Map([
          [1, createBlock(1, 1)],
          [2, createBlock(2, 1)],
          [BLOCK_COUNT, createBlock(BLOCK_COUNT)],
        ]),
      )
      const next = catalog.with(changed)
      for (const number of [1, 2]) check(next, number, 1)
      check(next, 3)
      check(next, BLOCK_COUNT)
      for (let number = 0; number < BLOCK_COUNT; number++) check(catalog, number)
      await next.close()
    })

    it('returns changed single answers, while previous stores stay unchanged', async () => {
      const readValue = (catalog: AnswerStore, row: number) => {
        const block = catalog.getBlock(row)
        return block.getDouble(block.toSlot(row))
      }
      const createAnswer = (value: number) => {
        const one = new AnswerBlock(new Uint8Array(ROW_BYTES))
        one.set(0, new Uint8Array(16), value, 0, NO_WORDS)
        return one.bytes
      }
      const rows = [0, 5, PAGE_ROWS, BLOCK_ROWS - 1, BLOCK_ROWS, 3 * BLOCK_ROWS + 7]
      // No answer contains the data of another row.
      const others = [1, 6, PAGE_ROWS + 1, BLOCK_ROWS + 1, 2 * BLOCK_ROWS]
      const usual = (row: number) => Math.floor(row / BLOCK_ROWS) * 1_000_000 + (row % BLOCK_ROWS)
      const catalogs = [{ catalog: fixture.catalog, expected: [...rows, ...others].map(usual) }]
      for (let round = 1; round <= 3; round++) {
        const some = rows.slice(round - 1)
        const { catalog, expected } = catalogs.at(-1)!
        const next = catalog.with(await fixture.writeRows(new Map(some.map((row) => [row, createAnswer(-round)]))))
        catalogs.push({ catalog: next, expected: expected.map((one, i) => (some.includes(rows[i]!) ? -round : one)) })
      }
      // A rebuilt block contains all changes of its rows.
      const last = catalogs.at(-1)!
      const next = last.catalog.with(await fixture.write(new Map([[0, createBlock(0)]])))
      const ofFirst = (row: number) => row < BLOCK_ROWS
      const requested = [...rows, ...others]
      catalogs.push({
        catalog: next,
        expected: last.expected.map((one, i) => (ofFirst(requested[i]!) ? usual(requested[i]!) : one)),
      })
      for (const { catalog, expected } of catalogs.toReversed())
        expect(requested.map((row) => readValue(catalog, row))).toEqual(expected)
      for (const { catalog } of catalogs.slice(1)) await catalog.close()
    })

    it('can be closed twice', async () => {
      await fixture.catalog.close()
      await expect(fixture.catalog.close()).resolves.toBeUndefined()
    })
  })
}
