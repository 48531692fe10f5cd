import { ID_BYTES, toBlockNumber, toSlot } from '@influencer-stats/prices/core/answer-block'
import { IdTable } from '@influencer-stats/prices/core/id-table'
import { collectAll, inspectThreads } from '../thread-inspectors.ts'
import { createProcessRunner } from '../load/common/process-runner.ts'
import type { CatalogPlan } from '../load/requests/catalogs.ts'
import { ExpectedCatalog } from '../load/requests/expected-catalog.ts'
import { makeCases, type LookupBatch, type CaseName } from './lookup-cases.ts'
import { openCatalog, type OpenCatalog } from './open-catalog.ts'
import type { IndexName } from '../load/requests/searches.ts'

/** A measurement of lookups in one index, without HTTP. */
export interface LookupsPlan {
  readonly index: IndexName
  readonly catalog: CatalogPlan
  readonly cases: readonly CaseName[]
  /** Measured seconds of each case, and the seconds of its warm-up. They include the preparation of the lookups. */
  readonly duration: number
  /** True to measure also the memory of the catalog. */
  readonly storage: boolean
}

/** Memory of the parts of a catalog (bytes). */
export interface CatalogStorage {
  /** Values, specs and currencies: the parts of an answer without its id. */
  readonly answers: number
  /** The ids of prices, and the table that finds a row by its id. */
  readonly ids: number
  readonly idTable: number
  /** Memory of the index that threads share, and memory of the index in each thread, after a garbage collection. */
  readonly shared: number
  readonly own: number
}

/** Maximum duration of a run (s), with the generation and indexing of 2 million rows. */
const MAX_RUN_S = 300
/** Number of lookups that are prepared and timed together. */
const BATCH_LOOKUPS = 100
/**
 * Before memory is measured, one batch of searches runs per this number of rows, at most 100 batches. After them, the
 * thread has created its view of every bitmap.
 */
const ROWS_PER_BATCH = 4_872
const MAX_BATCHES = 100

export async function measureLookups({ index, catalog, cases, duration, storage }: LookupsPlan) {
  const openedCatalog = await openCatalog(catalog, index)
  const expectedCatalog = new ExpectedCatalog(catalog)
  const made = makeCases(expectedCatalog, openedCatalog)
  for (const name of cases) measureTime(made[name], duration)
  const taken = Object.fromEntries(cases.map((name) => [name, measureTime(made[name], duration)]))
  return {
    cases: taken as Partial<Record<CaseName, number>>,
    ...(storage && { storage: await measureStorage(expectedCatalog, openedCatalog) }),
  }
}

/**
 * Measures lookups in a new process, so that no other index affects the compiled code.
 * @returns nanoseconds per lookup of each case, and optionally the memory of the catalog
 * @throws Error if a lookup found the wrong row
 */
export const runLookups = createProcessRunner(import.meta.url, measureLookups, MAX_RUN_S)

/** Runs one batch after the other. @returns nanoseconds per lookup. @throws Error if a lookup found the wrong row */
export function measureTime(make: (count: number) => LookupBatch, seconds: number): number {
  let [taken, done] = [0, 0]
  const until = performance.now() + seconds * 1000
  while (done === 0 || performance.now() < until) {
    const batch = make(BATCH_LOOKUPS)
    const began = process.hrtime.bigint()
    batch.run()
    taken += Number(process.hrtime.bigint() - began)
    check(batch)
    done += BATCH_LOOKUPS
  }
  return taken / done
}

function check(batch: LookupBatch): void {
  const right = batch.countRight()
  if (right !== BATCH_LOOKUPS) throw new Error(`${BATCH_LOOKUPS - right} of ${BATCH_LOOKUPS} lookups found a wrong row`)
}

async function measureStorage(expectedCatalog: ExpectedCatalog, openedCatalog: OpenCatalog): Promise<CatalogStorage> {
  const { blocks, segments } = openedCatalog
  const idOf = (row: number) => blocks[toBlockNumber(row)]!.getId(toSlot(row))
  const ids = expectedCatalog.size * ID_BYTES
  const table = new IdTable(idOf, expectedCatalog.size)
  for (let row = 0; row < expectedCatalog.size; row++) table.add(row, idOf(row))
  if (table.find(idOf(expectedCatalog.size - 1)) !== expectedCatalog.size - 1) throw new Error('an id is not found')

  // Measures a second view of the same segments, so that compiled code does not count.
  const threads = inspectThreads()
  const [bare] = await collectAll(threads)
  const index = openedCatalog.reopen()
  const { random } = makeCases(expectedCatalog, { ...openedCatalog, index })
  for (let i = 0; i < Math.min(MAX_BATCHES, expectedCatalog.size / ROWS_PER_BATCH); i++) {
    const batch = random(BATCH_LOOKUPS)
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
