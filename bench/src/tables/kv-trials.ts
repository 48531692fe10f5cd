import type { BenchTarget, TargetProcess } from '../targets/target.ts'
import { createKvTarget } from '../targets/kv.ts'
import { limitMemory } from '../targets/memory-limit.ts'
import type { LoadPlan, LoadResult } from '../load/load-plan.ts'
import { runRaw } from '../load/raw.ts'
import { FULL_BASE_ENTRIES } from '../load/requests/kv-entries.ts'
import { evictPages } from '../page-cache.ts'
import { PINS, getProcessorSeconds } from '../processes.ts'
import { getNumbers, type Column, type Columns } from '../report/columns.ts'
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

const get = { method: 'GET', entries: FULL_BASE_ENTRIES } as const
const put = { method: 'PUT', entries: FULL_BASE_ENTRIES } as const
const [connections1, connections64] = [{ connections: 1 }, { connections: 64 }]

// Stable rates: one definition for all tables.

/** Maximum 99th percentile of latencies at a stable rate (us), and minimum share of the rate that gets replies. */
const MAX_P99_US = 100_000
const MIN_RATE_SHARE = 0.98
/** Loads at a rate, and the number of them that must be stable. */
const [MAX_LOADS, MIN_STABLE_LOADS] = [3, 2]
const STABLE_DEFINITION = `Stable: in ${MIN_STABLE_LOADS} of ${MAX_LOADS} loads every request gets a reply, replies reach ${100 * MIN_RATE_SHARE} % of the rate, and p99 is under ${MAX_P99_US / 1_000} ms`

/** True if a load was stable at its rate. */
export const isStableAt = ({ perSecond, errors, latency }: LoadResult, rate: number): boolean =>
  errors === 0 && perSecond >= MIN_RATE_SHARE * rate && latency.p99 < MAX_P99_US

type KvLoadResult = Awaited<ReturnType<typeof runKvLoad>>

/** Rates are tried until the highest stable and the lowest unstable one differ by less than this ratio. */
const MAX_RATE_RATIO = 1.1
/** The first tried rate as a share of the rate of a closed loop, and the factor until a rate is not stable. */
const [FIRST_SHARE, RATE_FACTOR] = [0.7, 1.4] as const
/** Minimum rate; below it no rate is stable. */
const MIN_RATE = 10
/** Unmeasured time at each rate (s). The service is warm, the generator is a new process. */
const RATE_WARM_UP_S = 0.5

/** Rounds a rate to two digits. */
const roundRate = (rate: number) => Number(rate.toPrecision(2))

/** Returns the rate to try next; undefined if the limits are close to each other. */
function getNextRate(capacity: number, stable: number | undefined, unstable: number | undefined): number | undefined {
  const first = roundRate(FIRST_SHARE * capacity)
  if (stable === undefined && unstable === undefined) return first
  if (stable === undefined)
    return unstable! > MIN_RATE ? Math.min(first, roundRate(unstable! / RATE_FACTOR)) : undefined
  if (unstable === undefined) return Math.max(first, roundRate(stable * RATE_FACTOR))
  const middle = roundRate(Math.sqrt(stable * unstable))
  return unstable / stable < MAX_RATE_RATIO || middle === stable || middle === unstable ? undefined : middle
}

/**
 * Searches the highest stable rate, by halving the distance between a stable and an unstable rate.
 * @param known rate to try first: one that another table also has
 */
async function findStableRate(
  running: TargetProcess,
  kind: KvLoad,
  { duration, warmUp }: RoundOptions,
  known?: number,
): Promise<RowMetrics> {
  const { perSecond: capacity } = await runKvLoad(running, kind, { duration, warmUp })
  let [stable, unstable]: ({ rate: number; result: KvLoadResult } | undefined)[] = []
  for (
    let rate = known ?? getNextRate(capacity, undefined, undefined);
    rate !== undefined;
    rate = getNextRate(capacity, stable?.rate, unstable?.rate)
  ) {
    const { isStable, result } = await tryRate(running, kind, rate, duration)
    if (isStable) stable = { rate, result }
    else unstable = { rate, result }
  }
  return { closed: capacity, ...(stable && toStableMetrics(stable)), ...(unstable && toUnstableMetrics(unstable)) }
}

/** Sends loads at a rate until it is known whether the rate is stable. @returns the last load with that outcome */
async function tryRate(running: TargetProcess, kind: KvLoad, rate: number, duration: number) {
  const results: KvLoadResult[] = []
  for (;;) {
    results.push(await runKvLoad(running, kind, { duration, warmUp: RATE_WARM_UP_S, rate }))
    for (const isStable of [true, false]) {
      const same = results.filter((result) => isStableAt(result, rate) === isStable)
      if (same.length >= (isStable ? MIN_STABLE_LOADS : MAX_LOADS - MIN_STABLE_LOADS + 1))
        return { isStable, result: same.at(-1)! }
    }
  }
}

const toStableMetrics = ({ rate, result: { latency, share } }: { rate: number; result: KvLoadResult }): RowMetrics => {
  return { rate, p50: toMilliseconds(latency.p50), p99: toMilliseconds(latency.p99), share }
}
const toUnstableMetrics = ({ rate, result: { latency, perSecond } }: { rate: number; result: KvLoadResult }) => {
  const [overP50, overP99] = [toMilliseconds(latency.p50), toMilliseconds(latency.p99)]
  return { overRate: rate, overReplies: perSecond, overP50, overP99 }
}

const createStableRateRow = (
  kind: KvLoad,
  source?: RowMetrics,
  target = createKvTarget(KV_SPEC, kind.entries),
): BenchRow => ({
  name: formatKind(kind),
  target,
  round: (running, how) => findStableRate(running, kind, how, source && Number(source.rate)),
  source,
})

const DIFFERENCES =
  'The source: Java with a heap of 128 MB on its own machine, wrk2 with 1 connection. This service: Node with all pages cached, generator and server on one processor each'

/** Creates pairs of columns: our value, and the value of the source. */
const createColumnPairs = (columns: Readonly<Record<string, string>>, better: Column['better'], format = formatShort) =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, head]) => [
      [name, { head, format, better, of: 'spread' as const }],
      [`source: ${name}`, { head: `source: ${head}`, format }],
    ]),
  )
const SHARE_COLUMNS = createColumnPairs({ share: 'CPU' }, 'less', formatPercent)
const [PUT_EMPTY, PUT_FULL] = [
  { p50: 3.38, p99: 24, max: 26.9, share: '90-100 %' },
  { p50: 28.5, p99: 405, max: 423, share: '150-170 %' },
]

/** The values of the source are rates only: its latencies are those at its own rate, which `paced` has. */
const RATE_COLUMNS: Columns = {
  rate: { head: 'stable/s', format: formatShort, of: 'spread', better: 'more', plot: 'Stable requests per second' },
  'source: rate': { head: 'source: stable/s', format: formatShort },
  closed: { head: 'closed loop/s', format: formatShort, of: 'spread' },
  p50: { head: 'p50 ms', of: 'spread' },
  p99: { head: 'p99 ms', of: 'spread' },
  share: { head: 'CPU', format: formatPercent },
  overRate: { head: 'failed at/s', format: formatShort, of: 'spread' },
  overReplies: { head: 'replies/s', format: formatShort },
  overP50: 'p50 ms',
  overP99: 'p99 ms',
}

const rates: ServiceTable = {
  name: 'rates',
  title: `The highest stable rate, and the lowest tried rate that failed, after a closed loop of the same start. ${STABLE_DEFINITION}. ${DIFFERENCES}`,
  group: 'bases',
  // A round has about ten loads.
  maxRounds: 2,
  columns: RATE_COLUMNS,
  rows: () => [
    createStableRateRow({ ...put, ...connections1, entries: 0 }, { rate: 10_000 }),
    createStableRateRow({ ...put, ...connections1 }, { rate: 4_000 }),
    createStableRateRow({ ...get, ...connections1 }, { rate: 200 }),
    createStableRateRow({ ...put, ...connections64, entries: 0 }),
    createStableRateRow({ ...put, ...connections64 }),
    createStableRateRow({ ...get, ...connections64 }),
  ],
}

// Data larger than memory.

/** Memory limit of the process, equal to the heap of the source. The base has 270 MB. */
const SCARCE_MEMORY_BYTES = 128 * 2 ** 20

/** kv on a base that does not fit into its memory. It starts with no page in memory that it has not mapped. */
export function createScarceTarget(entries: number): BenchTarget {
  let folder = ''
  const target = createKvTarget(KV_SPEC, entries, { cacheMegabytes: '8' }, (filled) => (folder = filled))
  // The start of kv reads all tables of this size to check them.
  return limitMemory(target, SCARCE_MEMORY_BYTES, () => evictPages(folder))
}

const createScarceRow = (kind: KvLoad, source?: RowMetrics) =>
  createStableRateRow(kind, source, createScarceTarget(kind.entries))

const scarceMemory: ServiceTable = {
  name: 'scarce',
  title: `The highest stable rates with a base larger than the memory. ${STABLE_DEFINITION}. A Linux cgroup limits the process and its file pages to 128 MB. The source has a heap of 128 MB`,
  when: 'growth',
  maxRounds: 1,
  columns: RATE_COLUMNS,
  rows: () => [
    createScarceRow({ ...put, ...connections1 }, { rate: 4_000 }),
    createScarceRow({ ...get, ...connections1 }, { rate: 200 }),
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
  if (!isStableAt(result, rate)) return { replies: perSecond, share, unanswered: errors, stable: 0 }
  const names = ['p50', 'p90', 'p99', 'p999', 'max'] as const
  const times = Object.fromEntries(names.map((name) => [name, toMilliseconds(latency[name])]))
  return { replies: perSecond, ...times, share, lateness: toMilliseconds(lateness!), stable: 1 }
}

const createPacedRow = (kind: KvLoad, rate: number, source?: RowMetrics): BenchRow => ({
  name: `${formatWhole(rate)} ${formatKind(kind)}`,
  target: createKvTarget(KV_SPEC, kind.entries),
  round: (running, how) => measurePace(running, kind, rate, how),
  source,
})

const paced: ServiceTable = {
  name: 'paced',
  title: `Requests at a constant rate: the source's rates, and those of many clients. ${STABLE_DEFINITION}. ${DIFFERENCES}`,
  group: 'bases',
  columns: {
    stable: {
      head: 'stable',
      derive: (row) => {
        const loads = getNumbers(row, 'stable')
        return loads.length > 0 ? `${loads.filter((stable) => stable === 1).length} of ${loads.length}` : undefined
      },
    },
    replies: { head: 'replies/s', format: formatShort },
    unanswered: 'unanswered',
    ...createColumnPairs({ p50: 'p50 ms' }, 'less'),
    p90: { head: 'p90 ms', of: 'spread' },
    ...createColumnPairs({ p99: 'p99 ms' }, 'less'),
    p999: { head: 'p99.9 ms', of: 'spread' },
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
