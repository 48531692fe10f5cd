import { ID_BYTES, blockOf, slotOf } from '@influencer-stats/prices/core/answers'
import { IdTable } from '@influencer-stats/prices/core/id-table'
import { collect } from '../heap.ts'
import { spread } from '../statistics.ts'
import { KnownCatalog } from './known-catalog.ts'
import { makeCases, type Batch } from './lookup-cases.ts'
import type { LookupsPlan, LookupsResult, Storage } from './lookups.ts'
import { openCatalog, type Opened } from './opened.ts'

/** So many look-ups are made, parsed and timed at once. */
const BATCH = 100
/** Until every bitmap that is ever looked at has its view. */
const BATCHES_TO_TOUCH_ALL = 100

/** Runs inside this process. */
export async function runLookupsHere(plan: LookupsPlan): Promise<LookupsResult> {
  const { index, catalog, cases, rounds, duration } = plan
  const opened = await openCatalog(catalog, index)
  const known = new KnownCatalog(catalog)
  const made = makeCases(known, opened)
  const times = new Map(cases.map((name) => [name, [] as number[]]))
  for (const name of cases) time(made[name], duration)
  for (let round = 0; round < rounds; round++) {
    for (const name of cases) times.get(name)!.push(time(made[name], duration))
  }
  return {
    cases: Object.fromEntries(Array.from(times, ([name, each]) => [name, spread(each)])),
    ...(plan.storage && { storage: storageOf(known, opened) }),
  }
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
