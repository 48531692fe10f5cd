import { clusterTarget, natsTarget } from '../targets/cluster.ts'
import type { BenchTarget, TargetProcess } from '../targets/target.ts'
import { putEntries } from '../targets/kv.ts'
import { etcdCluster } from '../targets/peers.ts'
import type { LoadResult } from '../load/load-plan.ts'
import { runNatsPuts } from '../load/nats-puts.ts'
import { BATCH_ENTRIES, SMALL_BASE_ENTRIES } from '../load/requests/kv-entries.ts'
import { PINS } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { formatHundredth, toMilliseconds, formatTenth, formatWhole } from '../report/format-numbers.ts'
import { runLoad, formatShare, measureCosts } from '../rounds/request-round.ts'
import type { RowMetrics, RoundOptions, BenchRow } from '../row.ts'
import { formatConnections, checkReads, checkWrites, createRequests } from './kv.ts'
import type { ServiceTable } from '../table.ts'

const CONNECTION_COUNTS = [1, 16, 64, 256]
/** Connections of a load that runs during the measurement of another property. */
export const [SMALL_LOAD_CONNECTIONS, LARGE_LOAD_CONNECTIONS] = [16, 64] as const

// Requests to three nodes of one cluster.

type LoadSummary = Pick<LoadResult, 'requests' | 'perSecond' | 'latency' | 'cpu'>

/** Runs a warm-up, then a closed loop. @param each number of operations in one request */
async function measureLoad(
  running: TargetProcess,
  load: (seconds: number) => Promise<LoadSummary>,
  options: RoundOptions,
  each = 1,
): Promise<RowMetrics> {
  await load(options.warmUp)
  const { costs, below, perSecond, latency, cpu } = await measureCosts(running, () => load(options.duration))
  return {
    cpu: (costs + below) / each,
    ...(below > 0 && { own: costs / each, below: below / each }),
    perSecond: perSecond * each,
    p50: toMilliseconds(latency.p50),
    p99: toMilliseconds(latency.p99),
    generator: cpu,
  }
}

type LoadRequests = Omit<ReturnType<typeof createRequests>, 'says'>

const createRequestRow = (name: string, target: BenchTarget, requests: LoadRequests, each?: number): BenchRow => ({
  name,
  target,
  round: (running, how) =>
    measureLoad(running, (seconds) => runLoad(running, requests, { duration: seconds, warmUp: 0 }), how, each),
})

export const createPuts = (connections: number, drawer?: string) =>
  createRequests({ method: 'PUT', entries: 0, connections, drawer })

const createKvRow = (name: string, requests: LoadRequests, each?: number): BenchRow => ({
  ...createRequestRow(name, clusterTarget, requests, each),
  prepare: checkWrites,
})

const createNatsRow = (connections: number): BenchRow => ({
  name: `NATS KV, ${formatConnections(connections)}`,
  target: natsTarget,
  round(running, how) {
    const urls = [running.url, ...running.others!]
    return measureLoad(
      running,
      (duration) => runNatsPuts({ urls, connections, duration, warmUp: 0, pin: PINS.client }),
      how,
    )
  },
})

const createEtcdRow = (connections: number): BenchRow =>
  createRequestRow(`etcd, ${formatConnections(connections)}`, etcdCluster, {
    ...createPuts(connections, 'etcd-put'),
    expect: { status: 200 },
  })

const linearizable: BenchRow = {
  ...createRequestRow(
    'kv, linearizable GET',
    clusterTarget,
    createRequests({
      method: 'GET',
      entries: SMALL_BASE_ENTRIES,
      connections: LARGE_LOAD_CONNECTIONS,
      drawer: 'kv-get-linearizable',
    }),
  ),
  async prepare(running) {
    await putEntries(running.url, SMALL_BASE_ENTRIES)
    await checkReads(SMALL_BASE_ENTRIES)(running)
  },
}

const WRITE_COLUMNS: Columns = {
  cpu: {
    head: 'CPU us/operation',
    format: formatTenth,
    of: 'spread',
    ratio: true,
    plot: 'Processor time of all processes (us per operation)',
  },
  own: { head: 'nodes us', format: formatTenth },
  below: { head: 'NATS us', format: formatTenth },
  perSecond: { head: 'operations/s', format: formatWhole, of: 'spread', ratio: true, plot: 'Operations per second' },
  p50: { head: 'p50 ms', format: formatHundredth },
  p99: { head: 'p99 ms', format: formatHundredth },
  generator: { head: 'generator CPU', format: formatShare, of: 'max' },
}

/** Pairs the row of kv with each other row that has the same number of connections. */
const pairWithKv = (names: readonly string[]) =>
  names.filter((name) => !name.startsWith('kv')).map((name) => [name.replace(/^[^,]+/, 'kv'), name] as const)

const writes: ServiceTable = {
  name: 'writes',
  title:
    'Random entries of 100-200 bytes, put through three nodes. Three NATS servers store each entry on all three and sync it. NATS KV: its own client on the same servers. etcd: three members, each called through its JSON gateway. Connections are spread over all three. The generator uses one of the two processors; the nodes and servers use both',
  when: 'named',
  columns: WRITE_COLUMNS,
  steps: pairWithKv,
  rows: () => [
    ...CONNECTION_COUNTS.map((count) => createKvRow(`kv, ${formatConnections(count)}`, createPuts(count))),
    ...CONNECTION_COUNTS.map(createNatsRow),
    ...CONNECTION_COUNTS.map(createEtcdRow),
    createKvRow(
      `kv, batches of ${formatWhole(BATCH_ENTRIES)}, ${SMALL_LOAD_CONNECTIONS} connections`,
      { ...createPuts(SMALL_LOAD_CONNECTIONS, 'kv-batch'), expect: { status: 200 } },
      BATCH_ENTRIES,
    ),
    linearizable,
  ],
}

export const tables: readonly ServiceTable[] = [writes]
