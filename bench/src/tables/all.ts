import type { Spec } from '../spec.ts'
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

/** Selection of tables on the command line. */
export interface TableSelection {
  readonly specs: readonly Pick<Spec, 'service'>[]
  /** Names of tables, separated by commas. */
  readonly table?: string | undefined
  readonly full: boolean
  readonly peers: boolean
  readonly growth: boolean
}

/** Returns the selected tables. @throws Error naming the tables if one does not exist */
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
  const unknown = names?.find(
    (name) => !found.some((one) => name === one.name || name === `${one.service}/${one.name}`),
  )
  if (found.length > 0 && unknown === undefined) return found
  const candidates = tables.filter(({ service }) => services.size === 0 || services.has(service))
  const known = (candidates.length > 0 ? candidates : tables).map(({ service, name }) => `${service}/${name}`)
  throw new Error(`there is no table ${unknown ?? `of ${[...services].join(', ')}`}; there are ${known.join(', ')}`)
}
