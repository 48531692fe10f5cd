import { ID_BYTES, blockOf, slotOf } from '@influencer-stats/prices/core/answers'
import { IdTable } from '@influencer-stats/prices/core/id-table'
import { collect } from '../heap.ts'
import { runInOwnProcess } from '../load/common/own-process.ts'
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
  readonly pin?: readonly number[]
}

export interface LookupsResult {
  /** Nanoseconds a look-up. */
  readonly cases: Readonly<Partial<Record<CaseName, number>>>
  readonly storage?: Storage
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

/** 2 million rows are made and indexed before. */
const LIMIT = 300_000

/** Looks up in a fresh process, so that no index finds code that another one has warmed or spoilt. @throws Error when a row was wrong */
export const runLookups = (plan: LookupsPlan): Promise<LookupsResult> =>
  runInOwnProcess(import.meta.url, 'runLookupsHere', plan, LIMIT)

/** So many look-ups are made, parsed and timed at once. */
const BATCH = 100
/** Until every bitmap that is ever looked at has its view. */
const BATCHES_TO_TOUCH_ALL = 100

/** Runs inside this process. */
export async function runLookupsHere(plan: LookupsPlan): Promise<LookupsResult> {
  const { index, catalog, cases, duration } = plan
  const opened = await openCatalog(catalog, index)
  const known = new KnownCatalog(catalog)
  const made = makeCases(known, opened)
  for (const name of cases) time(made[name], duration)
  const nanoseconds = cases.map((name) => [name, time(made[name], duration)])
  return { cases: Object.fromEntries(nanoseconds), ...(plan.storage && { storage: storageOf(known, opened) }) }
}

/** Nanoseconds a look-up. @throws Error when one found another row than it should */
function time(make: (count: number) => Batch, seconds: number): number {
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

function storageOf(known: KnownCatalog, opened: Opened): Storage {
  const { blocks, segments } = opened
  const idOf = (row: number) => blocks[blockOf(row)]!.id(slotOf(row))
  const ids = known.size * ID_BYTES
  const table = new IdTable(idOf, known.size)
  for (let row = 0; row < known.size; row++) table.add(row, idOf(row))
  if (table.find(idOf(known.size - 1)) !== known.size - 1) throw new Error('an id is not found')

  // A second view of the same: what code and its feedback take is there already.
  const bare = collect()
  const index = opened.again()
  const { random } = makeCases(known, { ...opened, index })
  for (let i = 0; i < BATCHES_TO_TOUCH_ALL; i++) {
    const batch = random(BATCH)
    batch.run()
    check(batch)
  }
  const after = collect()
  return {
    answers: blocks.reduce((sum, { bytes }) => sum + bytes.length, 0) - ids,
    ids,
    idTable: table.bytes,
    shared: segments.values().reduce((sum, { length }) => sum + length, 0),
    own: after.heap - bare.heap + after.buffers - bare.buffers,
  }
}
