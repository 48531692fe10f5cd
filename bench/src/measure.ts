import type { Running } from './contenders/contender.ts'
import type { LoadGenerator, LoadPlan, LoadResult } from './load/load.ts'
import { PINS, processorSeconds, residentMegabytes } from './processes.ts'
import type { Round, Row, RowResult } from './row.ts'
import { median } from './statistics.ts'

export interface MeasureOptions {
  /** For the closed loop. */
  readonly closed: LoadGenerator
  /** For the open loop; without it, there is none. */
  readonly open?: LoadGenerator
  readonly rounds: number
  /** Seconds of a round. */
  readonly duration: number
  /** Seconds before the first round of each row, not measured. */
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

type Load = Pick<LoadPlan, 'duration' | 'rate'>

/** One run of one row. @throws Error when an answer was wrong or missing: such a run is no result */
export async function measureOnce(row: Row, running: Running, generator: LoadGenerator, load: Load): Promise<Round> {
  const before = processorSeconds(running.pid)
  const result = await generator.run({ url: running.url, ...row.load, ...load, warmUp: 0, pin: PINS.client })
  const cpu = processorSeconds(running.pid) - before
  const fault = faultOf(result)
  if (fault) throw new Error(fault)
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
  open?: Round & { rate: number }
}

/**
 * Starts every row's server, proves that it answers right, warms it up, and measures them in turn, round after round, so
 * that a change of the machine's speed meets all alike. A row that fails says so; the others go on.
 */
export async function measureRows(rows: readonly Row[], options: MeasureOptions): Promise<RowResult[]> {
  const { closed, open, rounds, duration, warmUp } = options
  const states = rows.map((row): State => ({ row, rounds: [] }))
  const steps = rows.length * (2 + rounds + (open ? 1 : 0))
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
      state.running = await state.row.contender.start()
      await state.row.prepare(state.running)
    }
    await Promise.all(states.map((state) => attempt(state, 'start', () => start(state))))
    await each(states, 'warm up', async ({ row }, running) => {
      await measureOnce(row, running, closed, { duration: warmUp })
    })
    for (let round = 0; round < rounds; round++) {
      // Another order every round: no row always follows the same one.
      const turn = round % states.length
      await each(
        [...states.slice(turn), ...states.slice(0, turn)],
        `round ${round + 1} of ${rounds}`,
        async (state, running) => {
          state.rounds.push(await measureOnce(state.row, running, closed, { duration }))
        },
      )
    }
    if (open) await measureOpenLoops(states, open, options, each)
  } finally {
    await Promise.all(states.map(({ running }) => running?.stop()))
  }
  return states.map(({ row, failure, rounds: done, open: constant }) => ({
    name: row.name,
    contender: row.contender.name,
    connections: row.load.connections,
    generator: closed.name,
    rounds: done,
    open: constant,
    source: row.source,
    failure,
  }))
}

type Each = (
  order: readonly State[],
  what: string,
  work: (state: State, running: Running) => Promise<void>,
) => Promise<void>

/** Latencies at a rate that server and generator both can keep. */
async function measureOpenLoops(
  states: readonly State[],
  open: LoadGenerator,
  { duration }: MeasureOptions,
  each: Each,
): Promise<void> {
  const fastest = states.filter(({ rounds }) => rounds.length > 0).toSorted((a, b) => capacity(b) - capacity(a))[0]
  if (!fastest?.running) return
  const ceiling = (await measureOnce(fastest.row, fastest.running, open, { duration })).perSecond
  await each(states, 'open loop', async (state, running) => {
    const rate = Math.max(1, Math.floor(OPEN_LOOP_SHARE * Math.min(capacity(state), ceiling)))
    state.open = { ...(await measureOnce(state.row, running, open, { duration, rate })), rate }
  })
}

const capacity = ({ rounds }: State) => median(rounds.map(({ perSecond }) => perSecond))
