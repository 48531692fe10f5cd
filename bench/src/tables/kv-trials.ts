import type { Running } from '../contenders/contender.ts'
import { kvContender } from '../contenders/kv.ts'
import { limited } from '../contenders/limited.ts'
import type { LoadPlan, LoadResult } from '../load/load.ts'
import { runRaw } from '../load/raw.ts'
import { FULL } from '../load/requests/kv-entries.ts'
import { evict } from '../pages.ts'
import { PINS, processorSeconds } from '../processes.ts'
import type { Column } from '../report/columns.ts'
import { ms, percent, short, whole } from '../report/numbers.ts'
import { withShare } from '../rounds/requests.ts'
import type { Figures, How, Row } from '../row.ts'
import { specOf } from '../spec.ts'
import { connectionsText, requestsOf, type Kind } from './kv.ts'
import type { OwnTable } from './table.ts'

const SPEC = specOf('kv')

const nameOf = ({ method, entries, connections }: Kind) =>
  `${method}, ${entries === FULL ? 'full' : 'empty'} base, ${connectionsText(connections)}`

/** @returns the share of a processor that the server took, too. @throws Error when a reply was wrong; that none came is for the caller to judge */
export async function load({ url, pid }: Running, kind: Kind, how: Pick<LoadPlan, 'duration' | 'warmUp' | 'rate'>) {
  const { requests, expect, connections } = requestsOf(kind)
  const plan = { url, requests, expect, connections, ...how, pin: PINS.client }
  const result = await withShare(
    () => processorSeconds(pid),
    () => runRaw(plan),
  )
  if (result.wrong > 0) throw new Error(`${result.wrong} replies were wrong`)
  return result
}

/** @returns whether a rate was kept. @throws Error where it was, and some requests got no reply all the same */
export function keepsUp({ perSecond, errors }: LoadResult, rate: number): boolean {
  if (perSecond < KEEPS_UP * rate) return false
  if (errors > 0) throw new Error(`${errors} requests got no reply`)
  return true
}

const get = { method: 'GET', entries: FULL } as const
const put = { method: 'PUT', entries: FULL } as const
const [one, many] = [{ connections: 1 }, { connections: 64 }]

// Rates: as the source found its stable one.

/** A rate is stable while replies keep up and the 99th percentile stays below this (us). */
const LONGEST = 100_000
const KEEPS_UP = 0.98
/** Shares of what a closed loop comes to, which the rate rises by. */
const [FIRST, RISE, MOST] = [0.5, 0.1, 4] as const

async function climb(running: Running, kind: Kind, { duration, warmUp }: How): Promise<Figures> {
  const { perSecond: capacity } = await load(running, kind, { duration, warmUp })
  let stable: Figures = {}
  for (let share = FIRST; share < MOST; share += RISE) {
    const rate = Math.round((share * capacity) / 100) * 100
    const { perSecond, latency, errors, share: took } = await load(running, kind, { duration, warmUp, rate })
    const [p50, p99] = [ms(latency.p50), ms(latency.p99)]
    if (errors > 0 || perSecond < KEEPS_UP * rate || latency.p99 >= LONGEST) {
      return { ...stable, overRate: rate, overReplies: perSecond, overP50: p50, overP99: p99 }
    }
    stable = { rate, p50, p99, share: took }
  }
  throw new Error(`it did not break at ${MOST} times what a closed loop came to`)
}

export const climbing = (kind: Kind, source?: Figures, contender = kvContender(SPEC, kind.entries)): Row => ({
  name: nameOf(kind),
  contender,
  round: (running, how) => climb(running, kind, how),
  source,
})

const DIFFERENCES =
  'theirs: Java with a heap of 128 MB on their machine, wrk2 at 1 connection; ours: Node with all pages cached, generator and server on a processor each'

/** A figure of ours and the source's beside it. */
const both = (columns: Readonly<Record<string, string>>, better: Column['better'], format = short) =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, head]) => [
      [name, { head, format, better }],
      [`source: ${name}`, { head: `source: ${head}`, format }],
    ]),
  )
const SHARE = both({ share: 'CPU' }, 'less', percent)
const [PUT_EMPTY, PUT_FULL] = [
  { p50: 3.38, p99: 24, max: 26.9, share: '90-100 %' },
  { p50: 28.5, p99: 405, max: 423, share: '150-170 %' },
]

const RATES = {
  ...both({ rate: 'stable/s' }, 'more'),
  ...both({ p50: 'p50 ms', p99: 'p99 ms' }, 'less'),
  ...SHARE,
  ...both({ overRate: 'broke at/s', overReplies: 'replies/s' }, 'more'),
  // Above the capacity of a service, latencies grow with the length of the round.
  ...both({ overP50: 'p50 ms', overP99: 'p99 ms' }, 'neither'),
}

const rates: OwnTable = {
  name: 'rates',
  title: `The highest rate with p99 under 100 ms, and the one that broke it (${DIFFERENCES})`,
  mostRounds: 1,
  columns: RATES,
  rows: () => [
    climbing({ ...put, ...one, entries: 0 }, { ...PUT_EMPTY, rate: 9_000 }),
    climbing({ ...put, ...one }, { ...PUT_FULL, rate: 4_000 }),
    climbing(
      { ...get, ...one },
      { rate: 200, p50: 14.1, p99: 47.7, overRate: 300, overReplies: 219, overP50: 1_354, overP99: 2_710 },
    ),
    climbing({ ...put, ...many }),
    climbing({ ...get, ...many }),
  ],
}

// More than fits into memory.

/** As much as the source's heap, and a cache of blocks that fits into it; the base is 270 MB. */
const SCARCE = 128 * 2 ** 20
const scarce = (kind: Kind, source?: Figures) =>
  climbing(kind, source, limited(kvContender(SPEC, kind.entries, { cacheMegabytes: '8' }, evict), SCARCE))

const scarceMemory: OwnTable = {
  name: 'scarce',
  title:
    "The same on a base that does not fit into the process's memory, 128 MB with the pages of its files (a control group; theirs: a heap of 128 MB)",
  when: 'growth',
  mostRounds: 1,
  columns: RATES,
  rows: () => [
    scarce({ ...put, ...one }, { ...PUT_FULL, rate: 4_000 }),
    scarce({ ...get, ...one }, { rate: 200, p50: 14.1, p99: 47.7 }),
    scarce({ ...put, ...many }),
    scarce({ ...get, ...many }),
  ],
}

// At given rates.

/** Seconds of a closed loop before, and then of the rate itself. */
const BEFORE = 3

async function pace(running: Running, kind: Kind, rate: number, { duration }: How): Promise<Figures> {
  // Server and generator, whose code is not compiled yet, fall 80 ms behind at 30,000/s; that is not to be seen.
  await load(running, kind, { duration: BEFORE, warmUp: 0 })
  const result = await load(running, kind, { duration, warmUp: BEFORE, rate })
  const { perSecond, latency, lateness, share, errors } = result
  // Behind a pace that it cannot keep a queue grows for as long as one likes: no latency tells of the server.
  if (!keepsUp(result, rate)) return { replies: perSecond, share, unanswered: errors }
  const { p50, p90, p99, p999, max } = latency
  const figures = { p50: ms(p50), p90: ms(p90), p99: ms(p99), p999: ms(p999), max: ms(max) }
  return { replies: perSecond, ...figures, share, lateness: ms(lateness!) }
}

const pacing = (kind: Kind, rate: number, source?: Figures): Row => ({
  name: `${whole(rate)} ${nameOf(kind)}`,
  contender: kvContender(SPEC, kind.entries),
  round: (running, how) => pace(running, kind, rate, how),
  source,
})

const paced: OwnTable = {
  name: 'paced',
  title: `Requests a second at a constant pace: the source's rates, and those of many clients (${DIFFERENCES})`,
  mostRounds: 1,
  columns: {
    replies: 'replies/s',
    unanswered: 'unanswered',
    ...both({ p50: 'p50 ms' }, 'less'),
    p90: 'p90 ms',
    ...both({ p99: 'p99 ms' }, 'less'),
    p999: 'p99.9 ms',
    ...both({ max: 'max ms' }, 'less'),
    ...SHARE,
    lateness: 'generator late p99 ms',
  },
  rows: () => [
    pacing({ ...put, ...one, entries: 0 }, 9_000, PUT_EMPTY),
    pacing({ ...put, ...one }, 4_000, PUT_FULL),
    pacing({ ...get, ...one }, 200, { p50: 14.1, p99: 47.7, max: 54.6 }),
    pacing({ ...get, ...one }, 300, { p50: 1_354, p99: 2_710, max: 2_720 }),
    pacing({ ...put, ...many }, 15_000),
    pacing({ ...get, ...many }, 30_000),
  ],
}

export const tables: readonly OwnTable[] = [rates, scarceMemory, paced]
