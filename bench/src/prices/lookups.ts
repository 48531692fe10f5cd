import { ID_BYTES, blockOf, slotOf } from '@influencer-stats/prices/core/answers'
import { IdTable } from '@influencer-stats/prices/core/id-table'
import { collectAll } from '../heap.ts'
import { inspectThreads } from '../threads.ts'
import { inOwnProcess } from '../load/common/own-process.ts'
import type { CatalogPlan } from './catalogs.ts'
import { KnownCatalog } from './known-catalog.ts'
import { makeCases, type Batch, type CaseName } from './lookup-cases.ts'
import { openCatalog, type Opened } from './opened.ts'
import type { IndexName } from './searches.ts'

/** Look-ups in one index, without HTTP. */
export interface LookupsPlan {
  readonly index: IndexName
  readonly catalog: CatalogPlan
  readonly cases: readonly CaseName[]
  /** Seconds that each case gets, and as many before; making what is looked up is part of them. */
  readonly duration: number
  /** Whether what the catalog takes is told, too. */
  readonly storage: boolean
}

/** What a catalog's parts take (bytes). */
export interface Storage {
  /** Values, specs and currencies: what an answer needs beside its id. */
  readonly answers: number
  /** The ids themselves, and the table that finds a row by its id. */
  readonly ids: number
  readonly idTable: number
  /** What the index has in memory that threads share, and what each thread has of its own, after a collection. */
  readonly shared: number
  readonly own: number
}

/** Seconds: 2 million rows are made and indexed before. */
const LIMIT = 300
/** So many look-ups are made, parsed and timed at once. */
const BATCH = 100
/** A batch for so many rows, 100 at most: then every bitmap that is ever looked at has its view. */
const ROWS_A_BATCH = 4_872
const MOST_BATCHES = 100

export async function lookupsHere({ index, catalog, cases, duration, storage }: LookupsPlan) {
  const opened = await openCatalog(catalog, index)
  const known = new KnownCatalog(catalog)
  const made = makeCases(known, opened)
  for (const name of cases) time(made[name], duration)
  const taken = Object.fromEntries(cases.map((name) => [name, time(made[name], duration)]))
  return {
    cases: taken as Partial<Record<CaseName, number>>,
    ...(storage && { storage: await storageOf(known, opened) }),
  }
}

/**
 * Looks up in a fresh process, so that no index finds code that another one has warmed or spoilt.
 * @returns nanoseconds a look-up, and what the catalog takes where that is asked. @throws Error when a row was wrong
 */
export const runLookups = inOwnProcess(import.meta.url, lookupsHere, LIMIT)

/** Nanoseconds a look-up, batch after batch. @throws Error when one found another row than it should */
export function time(make: (count: number) => Batch, seconds: number): number {
  let [taken, done] = [0, 0]
  const until = performance.now() + seconds * 1000
  while (done === 0 || performance.now() < until) {
    const batch = make(BATCH)
    const began = process.hrtime.bigint()
    batch.run()
    taken += Number(process.hrtime.bigint() - began)
    check(batch)
    done += BATCH
  }
  return taken / done
}

function check(batch: Batch): void {
  const right = batch.right()
  if (right !== BATCH) throw new Error(`${BATCH - right} of ${BATCH} look-ups found what they should not`)
}

async function storageOf(known: KnownCatalog, opened: Opened): Promise<Storage> {
  const { blocks, segments } = opened
  const idOf = (row: number) => blocks[blockOf(row)]!.id(slotOf(row))
  const ids = known.size * ID_BYTES
  const table = new IdTable(idOf, known.size)
  for (let row = 0; row < known.size; row++) table.add(row, idOf(row))
  if (table.find(idOf(known.size - 1)) !== known.size - 1) throw new Error('an id is not found')

  // A second view of the same: what code and its feedback take is there already.
  const threads = inspectThreads()
  const [bare] = await collectAll(threads)
  const index = opened.again()
  const { random } = makeCases(known, { ...opened, index })
  for (let i = 0; i < Math.min(MOST_BATCHES, known.size / ROWS_A_BATCH); i++) {
    const batch = random(BATCH)
    batch.run()
    check(batch)
  }
  const [after] = await collectAll(threads)
  return {
    answers: blocks.reduce((sum, { bytes }) => sum + bytes.length, 0) - ids,
    ids,
    idTable: table.bytes,
    shared: segments.values().reduce((sum, { length }) => sum + length, 0),
    own: after!.heap - bare!.heap + after!.buffers - bare!.buffers,
  }
}
