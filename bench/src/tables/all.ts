import { toFolderName } from '../report/results.ts'
import type { BenchRow } from '../row.ts'
import { formatSpec, type Spec } from '../spec.ts'
import { tables as cluster } from './cluster.ts'
import { tables as clusterNodes } from './cluster-nodes.ts'
import { tables as growth } from './growth.ts'
import { tables as kvDisk } from './kv-disk.ts'
import { tables as kvTrials } from './kv-trials.ts'
import { tables as kv, workloads as kvWorkloads } from './kv.ts'
import { tables as peers } from './peers.ts'
import { tables as pricesBulk } from './prices/bulk.ts'
import { tables as pricesCaches } from './prices/caches.ts'
import { tables as pricesFinding } from './prices/finding.ts'
import { tables as pricesLookups } from './prices/lookups.ts'
import { tables as pricesMemory } from './prices/memory.ts'
import { tables as pricesPercentiles } from './prices/percentiles.ts'
import { tables as pricesWrites } from './prices/writes.ts'
import { tables as prices, workloads as pricesWorkloads } from './prices/prices.ts'
import { tables as sse, workloads as sseWorkloads } from './sse.ts'
import { tables as start } from './start.ts'
import { tables as statsServer } from './stats-server.ts'
import { tables as statsOverview } from './stats-overview.ts'
import { tables as stats, workloads as statsWorkloads } from './stats.ts'
import { toTables, type BenchTable, type Workload } from '../table.ts'

const moreOfPrices = [
  pricesPercentiles,
  pricesWrites,
  pricesCaches,
  pricesBulk,
  pricesFinding,
  pricesLookups,
  pricesMemory,
]

/** All tables, in the order of the report. */
export const tables: readonly BenchTable[] = [
  ...toTables('stats', stats, statsServer, statsOverview),
  ...toTables('kv', kv, kvTrials, kvDisk),
  ...toTables('cluster', cluster, clusterNodes),
  ...toTables('sse', sse),
  ...toTables('all', start),
  ...toTables('prices', prices, ...moreOfPrices),
  ...growth,
  ...peers,
]

/** Workloads for any variant of a service, by name; the first is the default. */
export const workloads: Readonly<Record<string, Readonly<Record<string, Workload>>>> = {
  stats: statsWorkloads,
  sse: sseWorkloads,
  kv: kvWorkloads,
  prices: pricesWorkloads,
}

/**
 * Returns the row that a spec names, and a table with its columns. The spec names a variant and a workload
 * (`kv/v4/get-full`), or a row and its table as at the end of the path of the result file
 * (`kv/bare-GET/entity`).
 *
 * @throws Error naming the valid names
 */
export function findRow(spec: Spec): { readonly row: BenchRow; readonly table: BenchTable } {
  const { service, variant, work = Object.keys(workloads[service] ?? {})[0]! } = spec
  const ofService = tables.filter((table) => table.service === service)
  const make = workloads[service]?.[work]
  if (make) return { row: { ...make(spec), name: `${formatSpec(spec)}/${work}` }, table: ofService[0]! }
  const table = ofService.find(({ name }) => name === work)
  const row = table?.rows([]).find(({ name }) => toFolderName(name) === variant)
  if (row) return { row: { ...row, name: `${service}/${variant}/${work}` }, table: table! }
  const known = [...Object.keys(workloads[service] ?? {}), ...ofService.map(({ name }) => name)]
  throw new Error(`there is no ${formatSpec(spec)}/${work}; ${service} has ${known.join(', ')}`)
}

/** Selection of tables on the command line. */
export interface TableSelection {
  readonly specs: readonly Pick<Spec, 'service'>[]
  /** Names of tables, separated by commas. */
  readonly table?: string | undefined
  readonly full: boolean
  readonly peers: boolean
  readonly growth: boolean
}

/** Returns the selected tables. @throws Error if there are none */
export function selectTables({ specs, table, full, peers, growth }: TableSelection): BenchTable[] {
  const services = new Set(specs.map(({ service }) => service))
  // `--peers` and `--growth` exclude other tables, unless `--full` is given.
  const always = full || !(peers || growth)
  const when: Record<BenchTable['when'], boolean> = { always, named: always && services.size > 0, full, peers, growth }
  const names = table?.split(',')
  const found = tables.filter((one) => {
    const isSelected = names
      ? names.some((name) => name === one.name || name === `${one.service}/${one.name}`)
      : when[one.when]
    return isSelected && (services.size === 0 || services.has(one.service))
  })
  if (found.length > 0) return found
  throw new Error(`there is no such table${services.size > 0 ? ` of ${[...services].join(', ')}` : ''}`)
}
