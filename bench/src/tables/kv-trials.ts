import type { TargetProcess } from '../targets/target.ts'
import { createKvTarget } from '../targets/kv.ts'
import { limitMemory } from '../targets/memory-limit.ts'
import type { LoadPlan, LoadResult } from '../load/load-plan.ts'
import { runRaw } from '../load/raw.ts'
import { FULL_BASE_ENTRIES } from '../load/requests/kv-entries.ts'
import { evictPages } from '../page-cache.ts'
import { PINS, getProcessorSeconds } from '../processes.ts'
import type { Column } from '../report/columns.ts'
import { toMilliseconds, formatPercent, formatShort, formatWhole } from '../report/format-numbers.ts'
import { withShare } from '../rounds/request-round.ts'
import type { RowMetrics, RoundOptions, BenchRow } from '../row.ts'
import { createSpec } from '../spec.ts'
import { formatConnections, createRequests, type KvLoad } from './kv.ts'
import type { ServiceTable } from '../table.ts'

const KV_SPEC = createSpec('kv')

const formatKind = ({ method, entries, connections }: KvLoad) =>
  `${method}, ${entries === FULL_BASE_ENTRIES ? 'full' : 'empty'} base, ${formatConnections(connections)}`

/**
 * Sends a load.
 * @returns also the processor share of the server.
 * @throws Error if a reply was wrong, but not if it is missing
 */
export async function runKvLoad(
  { url, pid }: TargetProcess,
  kind: KvLoad,
  timing: Pick<LoadPlan, 'duration' | 'warmUp' | 'rate'>,
) {
  const { requests, expect, connections } = createRequests(kind)
  const plan = { url, requests, expect, connections, ...timing, pin: PINS.client }
  const result = await withShare(
    () => getProcessorSeconds(pid),
    () => runRaw(plan),
  )
  if (result.wrong > 0) throw new Error(`${result.wrong} replies were wrong`)
  return result
}

/** Returns true if a load reached its rate. @throws Error if it reached the rate but some requests got no reply */
export function isStableAt({ perSecond, errors }: LoadResult, rate: number): boolean {
  if (perSecond < MIN_RATE_SHARE * rate) return false
  if (errors > 0) throw new Error(`${errors} requests got no reply`)
  return true
}

const get = { method: 'GET', entries: FULL_BASE_ENTRIES } as const
const put = { method: 'PUT', entries: FULL_BASE_ENTRIES } as const
const [connections1, connections64] = [{ connections: 1 }, { connections: 64 }]

// Stable rates, measured as the source measures them.

/**
 * A rate is stable if the 99th percentile of latencies is below this (us), replies reach this share of the rate, and every
 * request gets a reply.
 */
const MAX_P99_US = 100_000
const MIN_RATE_SHARE = 0.98
/** The tried rates as shares of the rate of a closed loop: the first, the step, and the maximum. */
const [FIRST_SHARE, SHARE_STEP, MAX_SHARE] = [0.5, 0.1, 4] as const

async function findStableRate(
  running: TargetProcess,
  kind: KvLoad,
  { duration, warmUp }: RoundOptions,
): Promise<RowMetrics> {
  const { perSecond: capacity } = await runKvLoad(running, kind, { duration, warmUp })
  let stable: RowMetrics = {}
  for (let share = FIRST_SHARE; share < MAX_SHARE; share += SHARE_STEP) {
    const rate = Math.round((share * capacity) / 100) * 100
    const { perSecond, latency, errors, share: took } = await runKvLoad(running, kind, { duration, warmUp, rate })
    const [p50, p99] = [toMilliseconds(latency.p50), toMilliseconds(latency.p99)]
    if (errors > 0 || perSecond < MIN_RATE_SHARE * rate || latency.p99 >= MAX_P99_US) {
      return { ...stable, overRate: rate, overReplies: perSecond, overP50: p50, overP99: p99 }
    }
    stable = { rate, p50, p99, share: took }
  }
  throw new Error(`the service is stable at ${MAX_SHARE} times the rate of its closed loop`)
}

export const createStableRateRow = (
  kind: KvLoad,
  source?: RowMetrics,
  target = createKvTarget(KV_SPEC, kind.entries),
): BenchRow => ({
  name: formatKind(kind),
  target,
  round: (running, how) => findStableRate(running, kind, how),
  source,
})

const DIFFERENCES =
  'source: Java with a heap of 128 MB on its own machine, wrk2 with 1 connection; this service: Node with all pages cached, generator and server on one processor each'

/** Creates pairs of columns: our value, and the value of the source. */
const createColumnPairs = (columns: Readonly<Record<string, string>>, better: Column['better'], format = formatShort) =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, head]) => [
      [name, { head, format, better }],
      [`source: ${name}`, { head: `source: ${head}`, format }],
    ]),
  )
const SHARE_COLUMNS = createColumnPairs({ share: 'CPU' }, 'less', formatPercent)
const [PUT_EMPTY, PUT_FULL] = [
  { p50: 3.38, p99: 24, max: 26.9, share: '90-100 %' },
  { p50: 28.5, p99: 405, max: 423, share: '150-170 %' },
]

const RATE_COLUMNS = {
  ...createColumnPairs({ rate: 'stable/s' }, 'more'),
  ...createColumnPairs({ p50: 'p50 ms', p99: 'p99 ms' }, 'less'),
  ...SHARE_COLUMNS,
  ...createColumnPairs({ overRate: 'failed at/s', overReplies: 'replies/s' }, 'more'),
  // Above the capacity of a service, latencies grow with the duration of the round.
  ...createColumnPairs({ overP50: 'p50 ms', overP99: 'p99 ms' }, 'neither'),
}

const rates: ServiceTable = {
  name: 'rates',
  title: `The highest stable rate (every request gets a reply, replies reach ${100 * MIN_RATE_SHARE} % of the rate, p99 under ${MAX_P99_US / 1_000} ms), and the next tried rate, which failed (${DIFFERENCES})`,
  maxRounds: 1,
  columns: RATE_COLUMNS,
  rows: () => [
    createStableRateRow({ ...put, ...connections1, entries: 0 }, { ...PUT_EMPTY, rate: 10_000 }),
    createStableRateRow({ ...put, ...connections1 }, { ...PUT_FULL, rate: 4_000 }),
    createStableRateRow(
      { ...get, ...connections1 },
      { rate: 200, p50: 14.1, p99: 47.7, overRate: 300, overReplies: 219, overP50: 1_354, overP99: 2_710 },
    ),
    createStableRateRow({ ...put, ...connections64 }),
    createStableRateRow({ ...get, ...connections64 }),
  ],
}

// Data larger than memory.

/** Memory limit of the process, equal to the heap of the source. The base has 270 MB. */
const SCARCE_MEMORY_BYTES = 128 * 2 ** 20
const createScarceRow = (kind: KvLoad, source?: RowMetrics) =>
  createStableRateRow(
    kind,
    source,
    limitMemory(createKvTarget(KV_SPEC, kind.entries, { cacheMegabytes: '8' }, evictPages), SCARCE_MEMORY_BYTES),
  )

const scarceMemory: ServiceTable = {
  name: 'scarce',
  title:
    'The highest stable rates with a base larger than the memory. A Linux cgroup limits the process and its file pages to 128 MB. The source has a heap of 128 MB',
  when: 'growth',
  maxRounds: 1,
  columns: RATE_COLUMNS,
  rows: () => [
    createScarceRow({ ...put, ...connections1 }, { ...PUT_FULL, rate: 4_000 }),
    createScarceRow({ ...get, ...connections1 }, { rate: 200, p50: 14.1, p99: 47.7 }),
    createScarceRow({ ...put, ...connections64 }),
    createScarceRow({ ...get, ...connections64 }),
  ],
}

// Constant rates.

/** Duration of the closed loop before the measurement, and also of the following warm-up at the rate (s). */
const WARM_UP_S = 3

async function measurePace(
  running: TargetProcess,
  kind: KvLoad,
  rate: number,
  { duration }: RoundOptions,
): Promise<RowMetrics> {
  // Until their code is compiled, server and generator have a delay of 80 ms at 30,000/s. The warm-up excludes that.
  await runKvLoad(running, kind, { duration: WARM_UP_S, warmUp: 0 })
  const result = await runKvLoad(running, kind, { duration, warmUp: WARM_UP_S, rate })
  const { perSecond, latency, lateness, share, errors } = result
  // Above the capacity the queue grows without limit, so latencies do not describe the server.
  if (!isStableAt(result, rate)) return { replies: perSecond, share, unanswered: errors }
  const names = ['p50', 'p90', 'p99', 'p999', 'max'] as const
  const times = Object.fromEntries(names.map((name) => [name, toMilliseconds(latency[name])]))
  return { replies: perSecond, ...times, share, lateness: toMilliseconds(lateness!) }
}

const createPacedRow = (kind: KvLoad, rate: number, source?: RowMetrics): BenchRow => ({
  name: `${formatWhole(rate)} ${formatKind(kind)}`,
  target: createKvTarget(KV_SPEC, kind.entries),
  round: (running, how) => measurePace(running, kind, rate, how),
  source,
})

const paced: ServiceTable = {
  name: 'paced',
  title: `Requests at a constant rate: the source's rates, and those of many clients (${DIFFERENCES})`,
  maxRounds: 1,
  columns: {
    replies: 'replies/s',
    unanswered: 'unanswered',
    ...createColumnPairs({ p50: 'p50 ms' }, 'less'),
    p90: 'p90 ms',
    ...createColumnPairs({ p99: 'p99 ms' }, 'less'),
    p999: 'p99.9 ms',
    ...createColumnPairs({ max: 'max ms' }, 'less'),
    ...SHARE_COLUMNS,
    lateness: 'generator late p99 ms',
  },
  rows: () => [
    createPacedRow({ ...put, ...connections1, entries: 0 }, 9_000, PUT_EMPTY),
    createPacedRow({ ...put, ...connections1 }, 4_000, PUT_FULL),
    createPacedRow({ ...get, ...connections1 }, 200, { p50: 14.1, p99: 47.7, max: 54.6 }),
    createPacedRow({ ...get, ...connections1 }, 300, { p50: 1_354, p99: 2_710, max: 2_720 }),
    createPacedRow({ ...put, ...connections64 }, 15_000),
    createPacedRow({ ...get, ...connections64 }, 30_000),
  ],
}

export const tables: readonly ServiceTable[] = [rates, scarceMemory, paced]
