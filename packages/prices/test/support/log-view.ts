import type { Entry, Position } from '@influencer-stats/log/log'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { PAGE_ROWS, AnswerBlock, pageOf } from '../../src/core/answers.ts'
import * as kinds from '../../src/core/log-entries.ts'
import type { Price } from '../../src/core/price.ts'
import { openPricesLevel } from '../../src/database.ts'
import { loadIndexes } from '../../src/load-indexes.ts'
import { CatalogOwner } from '../../src/owner/catalog-owner.ts'
import { clearTorn, LogView } from '../../src/owner/log-view.ts'
import { toPrice } from '../../src/owner/price-of-row.ts'

const indexes = await loadIndexes({ indexes: ['bitset'] })

export const MOST = 5

/** A catalog on main, without threads. */
export const openOwner = (level: SharedLevel, most = MOST) =>
  CatalogOwner.open({
    level,
    indexes,
    log: { error: () => undefined },
    most,
    holdsBlocks: true,
    onChange: async () => undefined,
    onReplace: async () => undefined,
  })

/** What goes wrong with a write: it is lost, or it is there and nobody is told. */
export type Fault = 'lost' | 'kept'

/** A database whose writes fail as it is told. */
function faulty(level: SharedLevel, next: () => Fault | undefined): SharedLevel {
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

/** A node's catalog, as main has it. */
export interface TestView {
  readonly level: SharedLevel
  readonly owner: CatalogOwner
  readonly view: LogView
  /** Ends at once, or in order, and opens what is there. */
  reopen(how?: 'killed' | 'settled'): Promise<TestView>
  close(): Promise<void>
}

export async function openView(
  folder = temporaryFolder(),
  next: () => Fault | undefined = () => undefined,
): Promise<TestView> {
  const real = await openPricesLevel(folder, { log: { error() {}, info() {} }, isReplica: true })
  const level = faulty(real, next)
  await clearTorn(level)
  // What counts is what an entry says.
  const owner = await openOwner(level, 10_000)
  const view = await LogView.open(owner, level)
  const close = async () => {
    await owner.settled()
    await real.close()
  }
  return {
    level,
    owner,
    view,
    close,
    async reopen(how = 'killed') {
      if (how === 'settled') await view.settle()
      await close()
      return openView(folder, next)
    },
  }
}

/** All prices in the order of their rows, which decides between several default ones. */
export async function pricesOf(owner: CatalogOwner): Promise<Price[]> {
  const { meta, terms, kinds: answerKinds, generations, close } = await owner.freeze()
  const prices: Price[] = []
  for (let first = 0; first < meta.rows; first += PAGE_ROWS) {
    const table = generations.rows(meta.generation, pageOf(first))
    const block = new AnswerBlock(generations.answers(meta.generation, pageOf(first)))
    for (let slot = 0; slot < table.size; slot++) {
      const row = table.get(slot)
      if (row) prices.push(toPrice(first + slot, row, block, terms, answerKinds))
    }
  }
  await close()
  return prices
}

export const positionAt = (seq: number, at = 0): Position => ({ epoch: 'e', seq, at, check: 0, writers: [] })

/** Entries of the log, one a place. */
export function entriesOf(some: readonly (readonly [kind: number, body: Buffer, at?: number])[]): Entry[] {
  return some.map(([kind, body, at = 0], i) => ({ seq: i + 1, at, kind, body }))
}

export const logged = {
  put: ({ id, ...price }: Price, most = MOST) => [kinds.PUT, kinds.encodePut(id, JSON.stringify(price), most)] as const,
  remove: (id: string) => [kinds.REMOVE, kinds.encodeText(id)] as const,
  begins: (id: string, replace = false, most = MOST) =>
    [kinds.IMPORT_BEGINS, kinds.encodeText({ id, replace, mayBeEmpty: !replace, most })] as const,
  piece: (id: string, number: number, text: string) =>
    [kinds.IMPORT_PIECE, kinds.encodePiece(id, number, [Buffer.from(text)])] as const,
  ends: (id: string, pieces: number) => [kinds.IMPORT_ENDS, kinds.encodeText({ id, pieces })] as const,
  aborted: (id: string) => [kinds.IMPORT_ABORTED, kinds.encodeText(id)] as const,
  expires: (at: number) => [kinds.IMPORT_EXPIRES, kinds.NOTHING, at] as const,
}
