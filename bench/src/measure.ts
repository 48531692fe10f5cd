import type { Running } from './contenders/contender.ts'
import type { LoadGenerator, LoadPlan, LoadResult } from './load/load.ts'
import { PINS, processorSeconds, residentMegabytes } from './processes.ts'
import type { OpenLoopResult, Round, Row, RowResult } from './row.ts'
import { median } from './statistics.ts'

export interface MeasureOptions {
  /** For the closed loop. */
  readonly closed: LoadGenerator
  /** For the open loop; without it, there is none. */
  readonly open?: LoadGenerator
  readonly rounds: number
  /** Of the open loop. */
  readonly openRounds: number
  /** Seconds of a round. */
  readonly duration: number
  /** Seconds before the first round of each row, and before each of the open loop; not measured. */
  readonly warmUp: number
  /** Told before each step: what it is, and which of how many. */
  onStep?(what: string, step: number, steps: number): void
}

// Of the smaller of what the server and what the generator can do.
const OPEN_LOOP_SHARE = 0.7
const LONGEST_FAILURE = 200

/** What an error says, in one line. */
export const reasonOf = (error: unknown): string =>
  (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, LONGEST_FAILURE)

/** Why a run is no result; nothing if it is one. */
function faultOf({ errors, wrong, requests }: LoadResult): string | undefined {
  if (errors > 0) return `${errors} requests got no reply`
  if (wrong > 0) return `${wrong} replies were wrong`
  return requests === 0 ? 'no request was answered' : undefined
}

type Load = Pick<LoadPlan, 'duration' | 'warmUp' | 'rate'>

/** @throws Error when an answer was wrong or missing: such a run is no result */
async function load(row: Row, { url }: Running, generator: LoadGenerator, how: Load): Promise<LoadResult> {
  const result = await generator.run({ url, ...row.load, ...how, pin: PINS.client })
  const fault = faultOf(result)
  if (fault) throw new Error(fault)
  return result
}

/** One run of a row in the closed loop. @throws Error when an answer was wrong or missing */
export async function measureOnce(
  row: Row,
  running: Running,
  generator: LoadGenerator,
  duration: number,
): Promise<Round> {
  const before = processorSeconds(running.pid)
  const result = await load(row, running, generator, { duration, warmUp: 0 })
  const cpu = processorSeconds(running.pid) - before
  return {
    perSecond: result.perSecond,
    cpuPerRequest: (cpu / result.requests) * 1e6,
    latency: result.latency,
    memory: residentMegabytes(running.pid),
    clientCpu: result.cpu,
  }
}

/** A row while it is measured. */
interface State {
  readonly row: Row
  running?: Running
  failure?: string
  readonly rounds: Round[]
  open?: { readonly rate: number; readonly rounds: LoadResult[] }
}

/**
 * Starts every row's server, proves that it answers right, warms it up, and measures them in turn, round after round, so
 * that a change of the machine's speed meets all alike. A row that fails says so; the others go on.
 */
export async function measureRows(rows: readonly Row[], options: MeasureOptions): Promise<RowResult[]> {
  const { closed, open, rounds, openRounds, duration, warmUp } = options
  const states = rows.map((row): State => ({ row, rounds: [] }))
  // A pipeline has no pace: its rows have no open loop.
  const paced = states.filter(({ row }) => row.load.pipeline === undefined)
  const steps = rows.length * (2 + rounds) + (open ? paced.length * openRounds : 0)
  let step = 0

  async function attempt(state: State, what: string, work: (running: Running) => Promise<void>): Promise<void> {
    options.onStep?.(`${state.row.name}: ${what}`, ++step, steps)
    if (state.failure !== undefined) return
    try {
      await work(state.running!)
    } catch (error) {
      state.failure = `${what}: ${reasonOf(error)}`
    }
  }
  const each = async (
    order: readonly State[],
    what: string,
    work: (state: State, running: Running) => Promise<void>,
  ) => {
    for (const state of order) await attempt(state, what, (running) => work(state, running))
  }

  try {
    // Together: some wait for the next round of a cache.
    const start = async (state: State) => {
      // Twice, because at the very first start Node compiles TypeScript and is 30 MB larger than ever after.
      await (await state.row.contender.start()).stop()
      state.running = await state.row.contender.start()
      await state.row.prepare(state.running)
    }
    await Promise.all(states.map((state) => attempt(state, 'start', () => start(state))))
    await each(states, 'warm up', async ({ row }, running) => {
      await measureOnce(row, running, closed, warmUp)
    })
    for (let round = 0; round < rounds; round++) {
      await each(turned(states, round), `round ${round + 1} of ${rounds}`, async (state, running) => {
        state.rounds.push(await measureOnce(state.row, running, closed, duration))
      })
    }
    if (open) await measureOpenLoops(paced, open, options, each)
  } finally {
    await Promise.all(states.map(({ running }) => running?.stop()))
  }
  return states.map(({ row, failure, rounds: done, open: constant }) => ({
    name: row.name,
    contender: row.contender.name,
    connections: row.load.connections,
    generator: closed.name,
    rounds: done,
    open: constant && summary(constant),
    source: row.source,
    failure,
  }))
}

type Each = (
  order: readonly State[],
  what: string,
  work: (state: State, running: Running) => Promise<void>,
) => Promise<void>

/** Another order every round: no row always follows the same one. */
function turned<T>(items: readonly T[], round: number): T[] {
  const turn = round % items.length
  return [...items.slice(turn), ...items.slice(0, turn)]
}

/** Latencies at a rate that server and generator both can keep. */
async function measureOpenLoops(
  states: readonly State[],
  open: LoadGenerator,
  { duration, warmUp, openRounds }: MeasureOptions,
  each: Each,
): Promise<void> {
  const fastest = states.filter(({ rounds }) => rounds.length > 0).toSorted((a, b) => capacity(b) - capacity(a))[0]
  if (!fastest?.running) return
  const ceiling = (await measureOnce(fastest.row, fastest.running, open, duration)).perSecond
  for (let round = 0; round < openRounds; round++) {
    await each(turned(states, round), `open loop ${round + 1} of ${openRounds}`, async (state, running) => {
      const rate = Math.max(1, Math.floor(OPEN_LOOP_SHARE * Math.min(capacity(state), ceiling)))
      state.open ??= { rate, rounds: [] }
      // Warmed up each time, because the generator is a new process: cold, it falls 200 ms behind at 40,000 requests/s.
      state.open.rounds.push(await load(state.row, running, open, { duration, warmUp, rate: state.open.rate }))
    })
  }
}

const capacity = ({ rounds }: State) => median(rounds.map(({ perSecond }) => perSecond))

/** The median of each percentile over the rounds. */
function summary({ rate, rounds }: NonNullable<State['open']>): OpenLoopResult {
  const middle = (valueOf: (result: LoadResult) => number) => median(rounds.map(valueOf))
  return {
    rate,
    rounds: rounds.length,
    perSecond: middle(({ perSecond }) => perSecond),
    latency: {
      p50: middle(({ latency }) => latency.p50),
      p75: middle(({ latency }) => latency.p75),
      p90: middle(({ latency }) => latency.p90),
      p99: middle(({ latency }) => latency.p99),
      p999: middle(({ latency }) => latency.p999),
      max: middle(({ latency }) => latency.max),
    },
    lateness: middle(({ lateness }) => lateness?.p99 ?? NaN),
  }
}
