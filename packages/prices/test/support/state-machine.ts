import type { LevelStateMachine } from '@influencer-stats/log/level-state-machine'
import type { LogEntry, LogPosition } from '@influencer-stats/log/log'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { PAGE_ROWS, AnswerBlock, toPageNumber } from '../../src/core/answer-block.ts'
import * as kinds from '../../src/catalog/log-entries.ts'
import type { Price } from '../../src/core/price.ts'
import { stringifyPrice } from '../../src/core/price-json.ts'
import type { PriceRemoval } from '../../src/messages.ts'
import { openPricesLevel } from '../../src/storage/database.ts'
import type { PriceCatalog } from '../../src/catalog/price-catalog.ts'
import { openPricesStateMachine } from '../../src/catalog/prices-state-machine.ts'
import { toPrice } from '../../src/catalog/row-to-price.ts'
import { createTestCatalog } from './standalone.ts'

export const MAX_PRICES = 5

/** The fault of a write: it is lost, or it succeeds and reports an error. */
export type WriteFault = 'lost' | 'kept'

/** A database whose writes fail on demand. */
function createFaultyLevel(level: SharedLevel, next: () => WriteFault | undefined): SharedLevel {
  return new Proxy(level, {
    get(target: any, name) {
      if (name !== 'write') return typeof target[name] === 'function' ? target[name].bind(target) : target[name]
      return async (run: any) => {
        const fault = next()
        if (fault !== 'lost') await target.write(run)
        if (fault) throw new Error('the disk failed')
      }
    },
  })
}

/** A node's catalog on the main thread. */
export interface TestStateMachine {
  readonly level: SharedLevel
  readonly catalog: PriceCatalog
  readonly stateMachine: LevelStateMachine
  /** Ends by a crash or by a clean shutdown, and opens the folder again. */
  reopen(how?: 'killed' | 'settled'): Promise<TestStateMachine>
  close(): Promise<void>
}

export async function openTestStateMachine(
  folder = createTemporaryFolder(),
  next: () => WriteFault | undefined = () => undefined,
): Promise<TestStateMachine> {
  const real = await openPricesLevel(folder, { log: { error() {}, info() {} }, isReplica: true })
  const level = createFaultyLevel(real, next)
  const catalog = createTestCatalog(level, { isReplica: true, compaction: { unused: 2, deletedRows: 2, perUsed: 0 } })
  const stateMachine = await openPricesStateMachine(catalog, level, true)
  const close = async () => {
    await catalog.waitUntilIdle()
    await real.close()
  }
  return {
    level,
    catalog,
    stateMachine,
    close,
    async reopen(how = 'killed') {
      if (how === 'settled') await stateMachine.settle()
      await close()
      return openTestStateMachine(folder, next)
    },
  }
}

/** Returns all prices in the order of their rows, which decides between several default ones. */
export async function listPrices(catalog: PriceCatalog): Promise<Price[]> {
  const { meta, terms, words, reader, close } = await catalog.freeze()
  const prices: Price[] = []
  for (let first = 0; first < meta.rows; first += PAGE_ROWS) {
    const table = reader.readRows(meta.generation, toPageNumber(first))
    const block = new AnswerBlock(reader.readAnswers(meta.generation, toPageNumber(first)))
    for (let slot = 0; slot < table.size; slot++) {
      const row = table.get(slot)
      if (row) prices.push(toPrice(first + slot, row, block, terms, words))
    }
  }
  await close()
  return prices
}

export const toPosition = (seq: number, at = 0): LogPosition => ({ epoch: 'e', seq, at, check: 0, writers: [] })

/** Entries of the log, one per sequence. */
export function toEntries(some: readonly (readonly [kind: number, body: Buffer, at?: number])[]): LogEntry[] {
  return some.map(([kind, body, at = 0], i) => ({ seq: i + 1, at, kind, body }))
}

export const logEntries = {
  put: ({ id, ...price }: Price, maxPrices = MAX_PRICES) =>
    [kinds.PUT, kinds.encodePut(id, stringifyPrice(price), maxPrices)] as const,
  remove: (id: string) => [kinds.REMOVE, kinds.encodeText(id)] as const,
  removeWhere: (removal: PriceRemoval) => [kinds.REMOVE_WHERE, kinds.encodeText(removal)] as const,
  begin: (id: string, replace = false, maxPrices = MAX_PRICES) =>
    [kinds.IMPORT_BEGIN, kinds.encodeText({ id, replace, mayBeEmpty: !replace, most: maxPrices })] as const,
  piece: (id: string, number: number, text: string) =>
    [kinds.IMPORT_PIECE, kinds.encodePiece({ id, number, bytes: Buffer.from(text) })] as const,
  end: (id: string, pieces: number) => [kinds.IMPORT_END, kinds.encodeText({ id, pieces })] as const,
  abort: (id: string) => [kinds.IMPORT_ABORT, kinds.encodeText(id)] as const,
  expire: (at: number) => [kinds.IMPORT_EXPIRY, kinds.EMPTY_BODY, at] as const,
}
