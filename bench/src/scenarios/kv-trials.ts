import type { Running } from '../contenders/contender.ts'
import { kvContender } from '../contenders/kv.ts'
import { createRaw } from '../load/raw.ts'
import { FULL, valueOf } from '../load/requests/kv-entries.ts'
import type { LoadPlan, LoadResult } from '../load/load.ts'
import { runScan } from '../load/scan.ts'
import { evict, readAll } from '../pages.ts'
import { bytesRead, PINS } from '../processes.ts'
import { median } from '../statistics.ts'
import type { Figures, TrialRow } from '../trial-row.ts'
import type { Spec } from '../spec.ts'
import type { TrialsAsked, TrialScenario } from './scenario.ts'

const SPEC: Spec = { service: 'kv', variant: '', settings: {} }
const raw = createRaw()

/** What is asked of a base, over how many connections. */
interface Kind {
  readonly drawer: 'kv-get' | 'kv-put'
  readonly entries: number
  readonly connections: number
}

const METHODS = { 'kv-get': { name: 'GET', status: 200 }, 'kv-put': { name: 'PUT', status: 201 } } as const
const connectionsText = (count: number) => (count === 1 ? '1 connection' : `${count} connections`)
const nameOf = ({ drawer, entries, connections }: Kind) =>
  `${METHODS[drawer].name}, ${entries === FULL ? 'full' : 'empty'} base, ${connectionsText(connections)}`

type How = Pick<LoadPlan, 'duration' | 'warmUp' | 'rate'>

/** @throws Error when a reply was wrong; that none came is for the caller to judge */
async function load({ url }: Running, { drawer, connections }: Kind, how: How): Promise<LoadResult> {
  const expect = { status: METHODS[drawer].status }
  const result = await raw.run({ url, requests: { drawer }, expect, connections, ...how, pin: PINS.client })
  if (result.wrong > 0) throw new Error(`${result.wrong} replies were wrong`)
  return result
}

async function on<T>(contender: ReturnType<typeof kvContender>, work: (running: Running) => Promise<T>): Promise<T> {
  const running = await contender.start()
  try {
    return await work(running)
  } finally {
    await running.stop()
  }
}

const ms = (microseconds: number) => microseconds / 1000

// Rates: as the source found its stable one.

/** A rate is stable while replies keep up and the 99th percentile stays below this (us). */
const LONGEST = 100_000
const KEEPS_UP = 0.98
/** Shares of what a closed loop comes to, which the rate rises by. */
const [FIRST, RISE, MOST] = [0.5, 0.1, 4] as const

async function climb(kind: Kind, { duration, warmUp }: TrialsAsked, say: (what: string) => void): Promise<Figures> {
  return on(kvContender(SPEC, kind.entries), async (running) => {
    const { perSecond: capacity } = await load(running, kind, { duration, warmUp })
    let stable: Figures = {}
    for (let share = FIRST; share < MOST; share += RISE) {
      const rate = Math.round((share * capacity) / 100) * 100
      say(`${rate} requests/s`)
      const { perSecond, latency, errors } = await load(running, kind, { duration, warmUp, rate })
      const [p50, p99] = [ms(latency.p50), ms(latency.p99)]
      if (errors > 0 || perSecond < KEEPS_UP * rate || latency.p99 >= LONGEST) {
        return { ...stable, overRate: rate, overReplies: perSecond, overP50: p50, overP99: p99 }
      }
      stable = { rate, p50, p99 }
    }
    throw new Error(`it did not break at ${MOST} times what a closed loop came to`)
  })
}

const climbRow = (kind: Kind, asked: TrialsAsked, source?: Figures): TrialRow => ({
  name: nameOf(kind),
  contender: 'kv',
  run: (say) => climb(kind, asked, say),
  source,
})

const DIFFERENCES =
  'theirs: Java with a heap of 128 MB on their machine, wrk2 at 1 connection; ours: Node with all pages cached, generator and server on a processor each'

const rates: TrialScenario = {
  service: 'kv',
  name: 'rates',
  title: `The highest rate with p99 under 100 ms, and the one that broke it (${DIFFERENCES})`,
  full: true,
  columns: {
    rate: 'stable/s',
    'source: rate': 'source: stable/s',
    p50: 'p50 ms',
    'source: p50': 'source: p50 ms',
    p99: 'p99 ms',
    'source: p99': 'source: p99 ms',
    overRate: 'broke at/s',
    'source: overRate': 'source: broke at/s',
    overReplies: 'replies/s',
    'source: overReplies': 'source: replies/s',
    overP50: 'p50 ms',
    'source: overP50': 'source: p50 ms',
    overP99: 'p99 ms',
    'source: overP99': 'source: p99 ms',
  },
  trials: (asked) => [
    climbRow({ drawer: 'kv-put', entries: 0, connections: 1 }, asked, { rate: 9_000, p50: 3.38, p99: 24 }),
    climbRow({ drawer: 'kv-put', entries: FULL, connections: 1 }, asked, { rate: 4_000, p50: 28.5, p99: 405 }),
    climbRow({ drawer: 'kv-get', entries: FULL, connections: 1 }, asked, {
      rate: 200,
      p50: 14.1,
      p99: 47.7,
      overRate: 300,
      overReplies: 219,
      overP50: 1_354,
      overP99: 2_710,
    }),
    climbRow({ drawer: 'kv-put', entries: FULL, connections: 64 }, asked),
    climbRow({ drawer: 'kv-get', entries: FULL, connections: 64 }, asked),
  ],
}

// At given rates.

/** Seconds of a closed loop before, and then of the rate itself. */
const BEFORE = 3

async function pace(kind: Kind, rate: number, { duration }: TrialsAsked): Promise<Figures> {
  return on(kvContender(SPEC, kind.entries), async (running) => {
    // Server and generator, whose code is not compiled yet, fall 80 ms behind at 30,000/s; that is not to be seen.
    await load(running, kind, { duration: BEFORE, warmUp: 0 })
    const { perSecond, latency, errors, lateness } = await load(running, kind, { duration, warmUp: BEFORE, rate })
    if (errors > 0) throw new Error(`${errors} requests got no reply`)
    const { p50, p90, p99, p999, max } = latency
    const figures = { p50: ms(p50), p90: ms(p90), p99: ms(p99), p999: ms(p999), max: ms(max) }
    return { replies: perSecond, ...figures, lateness: ms(lateness!.p99) }
  })
}

const paceRow = (kind: Kind, rate: number, asked: TrialsAsked, source?: Figures): TrialRow => ({
  name: `${rate.toLocaleString('en-US')} ${nameOf(kind)}`,
  contender: 'kv',
  run: () => pace(kind, rate, asked),
  source,
})

const paced: TrialScenario = {
  service: 'kv',
  name: 'paced',
  title: `Requests a second at a constant pace: the source's rates, and those of many clients (${DIFFERENCES})`,
  full: true,
  columns: {
    replies: 'replies/s',
    p50: 'p50 ms',
    'source: p50': 'source: p50 ms',
    p90: 'p90 ms',
    p99: 'p99 ms',
    'source: p99': 'source: p99 ms',
    p999: 'p99.9 ms',
    max: 'max ms',
    'source: max': 'source: max ms',
    lateness: 'generator late p99 ms',
  },
  trials: (asked) => {
    const [put, get] = [{ drawer: 'kv-put' } as const, { drawer: 'kv-get', entries: FULL } as const]
    const [one, many] = [{ connections: 1 }, { connections: 64 }]
    return [
      paceRow({ ...put, ...one, entries: 0 }, 9_000, asked, { p50: 3.38, p99: 24, max: 26.9 }),
      paceRow({ ...put, ...one, entries: FULL }, 4_000, asked, { p50: 28.5, p99: 405, max: 423 }),
      paceRow({ ...get, ...one }, 200, asked, { p50: 14.1, p99: 47.7, max: 54.6 }),
      paceRow({ ...get, ...one }, 300, asked, { p50: 1_354, p99: 2_710, max: 2_720 }),
      paceRow({ ...put, ...many, entries: FULL }, 15_000, asked),
      paceRow({ ...get, ...many }, 30_000, asked),
    ]
  },
}

// From the disk.

const COLD_ROUNDS = 3
const MEGA = 1e6

async function fromDisk(
  isCold: boolean,
  cacheMegabytes: number,
  connections: number,
  { duration, warmUp }: TrialsAsked,
  say: (what: string) => void,
): Promise<Figures> {
  const kind: Kind = { drawer: 'kv-get', entries: FULL, connections }
  const contender = kvContender(SPEC, FULL, { cacheMegabytes: String(cacheMegabytes) }, isCold ? evict : readAll)
  const rounds: (LoadResult & { readonly read: number })[] = []
  for (let round = 1; round <= COLD_ROUNDS; round++) {
    say(`round ${round} of ${COLD_ROUNDS}`)
    await on(contender, async (running) => {
      const before = bytesRead(running.pid)
      // Warming up would read the pages that are to be read.
      const result = await load(running, kind, { duration, warmUp: isCold ? 0 : warmUp })
      if (result.errors > 0) throw new Error(`${result.errors} requests got no reply`)
      rounds.push({ ...result, read: bytesRead(running.pid) - before })
    })
  }
  const read = median(rounds.map((round) => round.read))
  if (isCold && !(read > 0)) throw new Error('nothing was read from the disk: pages cannot be evicted here')
  const middle = (valueOfRound: (result: LoadResult) => number) => median(rounds.map(valueOfRound))
  return {
    pages: isCold ? 'evicted' : 'cached',
    perSecond: middle(({ perSecond }) => perSecond),
    p50: ms(middle(({ latency }) => latency.p50)),
    p99: ms(middle(({ latency }) => latency.p99)),
    read: read / MEGA,
    perRequest: read / 1024 / middle(({ requests }) => requests),
  }
}

const diskRow = (isCold: boolean, cacheMegabytes: number, connections: number, asked: TrialsAsked): TrialRow => ({
  name: `GET, ${isCold ? 'pages evicted' : 'pages cached'}, cache of ${cacheMegabytes} MB, ${connectionsText(connections)}`,
  contender: 'kv',
  run: (say) => fromDisk(isCold, cacheMegabytes, connections, asked, say),
  source: isCold && connections === 1 ? { perSecond: 200 } : undefined,
})

const cold: TrialScenario = {
  service: 'kv',
  name: 'cold',
  title: "Reads of a full base that is on the disk, its pages evicted before each round, against the system's cache",
  full: true,
  columns: {
    pages: 'pages before',
    perSecond: 'requests/s',
    'source: perSecond': 'source: stable/s',
    p50: 'p50 ms',
    p99: 'p99 ms',
    read: 'MB read from disk',
    perRequest: 'KiB read a request',
  },
  trials: (asked) => [
    diskRow(true, 8, 1, asked),
    diskRow(true, 8, 64, asked),
    diskRow(false, 8, 1, asked),
    diskRow(false, 8, 64, asked),
    diskRow(false, 128, 64, asked),
  ],
}

// Scans.

const SCANS = {
  chunks: { accept: '*/*', around: 1 },
  lines: { accept: 'application/x-ndjson', around: '{"op":"put","id":"","value":""}\n'.length },
} as const

/** Bytes that a scan of a full base must have. */
function scanBytes(around: number): number {
  let bytes = 0
  for (let id = 0; id < FULL; id++) bytes += String(id).length + valueOf(id).length + around
  return bytes
}

async function scanAll(format: keyof typeof SCANS, isFirst: boolean): Promise<Figures> {
  const { accept, around } = SCANS[format]
  return on(kvContender(SPEC, FULL), async ({ url, pid }) => {
    const plan = { url, path: '/v0/entities?start=%00', headers: { accept }, pid, pin: PINS.client }
    if (!isFirst) await runScan(plan)
    const { status, bytes, seconds, before, peak, peakFiles, beforeFiles, cpu } = await runScan(plan)
    if (status !== 200 || bytes !== scanBytes(around)) throw new Error(`${bytes} bytes came, status ${status}`)
    return {
      megabytes: bytes / MEGA / seconds,
      entries: FULL / seconds,
      before,
      growth: peak - before,
      mapped: peakFiles - beforeFiles,
      reader: `${Math.round(cpu * 100)} %`,
    }
  })
}

const scanRow = (name: string, format: keyof typeof SCANS, isFirst: boolean): TrialRow => {
  return { name, contender: 'kv', run: () => scanAll(format, isFirst) }
}

const scan: TrialScenario = {
  service: 'kv',
  name: 'scan',
  title:
    'The whole of a full base as one range; a first scan maps all tables into memory, which the system can take back',
  full: true,
  columns: {
    megabytes: 'MB/s',
    entries: 'entries/s',
    before: 'RSS before MB',
    growth: 'RSS growth MB',
    mapped: 'of it mapped files MB',
    reader: 'reader CPU',
  },
  trials: () => [
    scanRow('a chunk an entry, first scan', 'chunks', true),
    scanRow('a chunk an entry', 'chunks', false),
    scanRow('NDJSON, first scan', 'lines', true),
    scanRow('NDJSON', 'lines', false),
  ],
}

export const trialScenarios: readonly TrialScenario[] = [rates, paced, cold, scan]
