import { folderName } from '../report/results.ts'
import type { Row } from '../row.ts'
import { nameOf, type Spec } from '../spec.ts'
import { tables as cluster } from './cluster.ts'
import { tables as growth } from './growth.ts'
import { tables as kvDisk } from './kv-disk.ts'
import { tables as kvTrials } from './kv-trials.ts'
import { tables as kv, works as kvWorks } from './kv.ts'
import { tables as peers } from './peers.ts'
import { tables as pricesBulk } from './prices-bulk.ts'
import { tables as pricesCaches } from './prices-caches.ts'
import { tables as pricesFinding } from './prices-finding.ts'
import { tables as pricesLookups } from './prices-lookups.ts'
import { tables as pricesMemory } from './prices-memory.ts'
import { tables as pricesPercentiles } from './prices-percentiles.ts'
import { tables as pricesWrites } from './prices-writes.ts'
import { tables as prices, works as pricesWorks } from './prices.ts'
import { tables as sse, works as sseWorks } from './sse.ts'
import { tables as start } from './start.ts'
import { tables as statsDoor } from './stats-door.ts'
import { tables as statsOverview } from './stats-overview.ts'
import { tables as stats, works as statsWorks } from './stats.ts'
import { belongTo, type Table, type Work } from './table.ts'

const aspects = [pricesPercentiles, pricesWrites, pricesCaches, pricesBulk, pricesFinding, pricesLookups, pricesMemory]

/** Every table that can be measured, in the order of the report. */
export const tables: readonly Table[] = [
  ...belongTo('stats', stats, statsDoor, statsOverview),
  ...belongTo('kv', kv, kvTrials, kvDisk),
  ...belongTo('cluster', cluster),
  ...belongTo('sse', sse),
  ...belongTo('all', start),
  ...belongTo('prices', prices, ...aspects),
  ...growth,
  ...peers,
]

/** What any variant of a service can be measured at, by name; the first where none is named. */
export const works: Readonly<Record<string, Readonly<Record<string, Work>>>> = {
  stats: statsWorks,
  sse: sseWorks,
  kv: kvWorks,
  prices: pricesWorks,
}

/**
 * The row that a spec names, and its table's columns: a variant at a workload, `kv/v4/get-full`; or a row of a table, named
 * as the file of its result, `kv/bare-GET/entity`.
 *
 * @throws Error naming what there is
 */
export function rowOf(spec: Spec): { readonly row: Row; readonly table: Table } {
  const { service, variant, work = Object.keys(works[service] ?? {})[0]! } = spec
  const ofService = tables.filter((table) => table.service === service)
  const make = works[service]?.[work]
  if (make) return { row: { ...make(spec), name: `${nameOf(spec)}/${work}` }, table: ofService[0]! }
  const table = ofService.find(({ name }) => name === work)
  const row = table?.rows([]).find(({ name }) => folderName(name) === variant)
  if (row) return { row: { ...row, name: `${service}/${variant}/${work}` }, table: table! }
  const known = [...Object.keys(works[service] ?? {}), ...ofService.map(({ name }) => name)]
  throw new Error(`there is no ${nameOf(spec)}/${work}; ${service} has ${known.join(', ')}`)
}
