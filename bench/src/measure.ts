import type { Progress } from './progress.ts'
import type { Steps } from './table.ts'
import type { RunStep } from './remaining-time.ts'
import { computePace, groupByPace } from './run/pace.ts'
import { runPairedRound, type RowPair } from './rounds/paired-round.ts'
import { startRow } from './rounds/start-row.ts'
import type { PairMetrics, RowMetrics, RoundOptions, BenchRow, RowResult } from './row.ts'

export interface MeasureOptions extends Omit<RoundOptions, 'pace'> {
  /** Number of rounds of each row, unless the row has a lower maximum. */
  readonly rounds: number
  /** True to start the targets of a round at the same time, because some take long until they are ready. */
  readonly together?: boolean | undefined
  /** False to omit the open loops, with their latencies. */
  readonly latencies?: boolean
  /** Names of the rows that get the same pace. */
  readonly steps?: Steps
  /** Names of the rows that are loaded in turn, after their own rounds. */
  readonly comparisons?: Steps
  /** Aborted to stop the measurement. A running step ends when its processes end; no other begins. */
  readonly signal?: AbortSignal
  /** Shows the steps. */
  readonly progress?: Pick<Progress, 'begin' | 'skipRow'>
}

type RoundCounts = Pick<MeasureOptions, 'rounds' | 'latencies' | 'comparisons'>

/**
 * Returns the number of rounds of a row, without a pace or with one: half of those of the run, if the row has no other
 * number.
 */
function countRounds(
  { maxRounds = Infinity, maxPacedRounds, getCapacity }: BenchRow,
  { rounds, latencies = true }: RoundCounts,
  isPaced: boolean,
): number {
  if (!isPaced) return Math.min(rounds, maxRounds)
  if (!latencies || !getCapacity) return 0
  return Math.min(maxPacedRounds ?? Math.min(Math.ceil(rounds / 2), maxRounds), rounds)
}

const toPairName = (names: Steps[number]): string => names.join(' / ')

/** Plans the steps of a measurement, for `createProgress`. */
export function planSteps(rows: readonly BenchRow[], counts: RoundCounts): RunStep[] {
  const repeat = (step: RunStep, length: number) => Array.from({ length }, () => step)
  const planRounds = (isPaced: boolean) =>
    rows.flatMap((row) => repeat({ row: row.name, isPaced }, countRounds(row, counts, isPaced)))
  const { comparisons = [], rounds } = counts
  const ofPairs = comparisons.flatMap((names) => repeat({ row: toPairName(names), isPaced: false }, rounds))
  return [...planRounds(false), ...planRounds(true), ...ofPairs]
}

const MAX_FAILURE_LENGTH = 200

/** Returns the message of an error in one line. */
const formatFailure = (error: unknown): string =>
  (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, MAX_FAILURE_LENGTH)

/** Returns the items in another order for each round, so that another row comes first. */
function rotate<T>(items: readonly T[], round: number): T[] {
  const turn = round % items.length
  return [...items.slice(turn), ...items.slice(0, turn)]
}

/** A row and its results so far. */
interface RowState {
  readonly row: BenchRow
  readonly closed: RowMetrics[]
  readonly paced: RowMetrics[]
  readonly comparisons: Record<string, PairMetrics[]>
  seconds: number
  failure: string | undefined
}

/** Returns the pace of each row: by the slowest start of all rows that are compared. */
function computePaces(states: readonly RowState[], steps: Steps = []): Map<string, number> {
  const groups = groupByPace(
    states.map(({ row }) => row.name),
    steps,
  )
  const capacities = Map.groupBy(
    states.flatMap(({ row, closed }) =>
      closed.map((metrics) => [groups.get(row.name), row.getCapacity?.(metrics)] as const),
    ),
    ([group]) => group,
  )
  return new Map(
    states.map(({ row }) => {
      const known = capacities.get(groups.get(row.name))?.flatMap(([, capacity]) => capacity ?? []) ?? []
      return [row.name, computePace(known)]
    }),
  )
}

/**
 * Measures one round of each row, then the next round of each row, and so on. So a change of the machine's speed
 * affects all rows equally. Each round starts its target again, so the variation between rounds includes the variation
 * between starts. The rounds at a pace follow when the capacity of all starts is known, and then the pairs. If a row fails,
 * its result has the failure, and the other rows continue.
 */
export async function measure(rows: readonly BenchRow[], options: MeasureOptions): Promise<RowResult[]> {
  const states = rows.map((row): RowState => ({
    row,
    closed: [],
    paced: [],
    comparisons: {},
    seconds: 0,
    failure: undefined,
  }))
  for (const isPaced of [false, true]) {
    const paces = isPaced ? computePaces(states, options.steps) : undefined
    const counts = states.map(({ row }) => countRounds(row, options, isPaced))
    for (let round = 0; round < Math.max(0, ...counts); round++) {
      const remaining = states.filter(({ failure }, i) => failure === undefined && round < counts[i]!)
      await measureRound(rotate(remaining, round), round, options, paces)
    }
  }
  for (let round = 0; round < options.rounds; round++) await measurePairs(states, round, options)
  return states.map(({ row, closed, paced, comparisons, seconds, failure }) => {
    const { name, target, source, requests } = row
    const done = [...closed, ...paced]
    const stepSeconds = done.length > 0 ? Math.round((seconds / done.length) * 10) / 10 : undefined
    const roundSeconds = options.duration
    const connections = requests && (options.connections ?? requests.connections)
    return {
      name,
      contender: target.name,
      source,
      connections,
      starts: done.length,
      stepSeconds,
      roundSeconds,
      rounds: done,
      comparisons: Object.keys(comparisons).length > 0 ? comparisons : undefined,
      failure,
    }
  })
}

/** Measures one round of each row. @param paces paces of the rows, for a round at a pace */
async function measureRound(
  states: readonly RowState[],
  round: number,
  options: MeasureOptions,
  paces?: ReadonlyMap<string, number>,
): Promise<void> {
  const { together, progress } = options
  const early = states.map(({ row }) => (together ? startRow(row) : undefined))
  // A failed start is reported in the step of its row.
  for (const each of early) each?.catch(() => {})
  // The first measurement waits until all targets have started, because a starting target uses processor time.
  await Promise.allSettled(early)
  for (const [i, state] of states.entries()) {
    const { row } = state
    const pace = paces?.get(row.name)
    const title = `round ${round + 1} of ${countRounds(row, options, paces !== undefined)}`
    const text = pace === undefined ? title : `${title} at ${pace}/s`
    options.signal?.throwIfAborted()
    progress?.begin({ row: row.name, isPaced: pace !== undefined }, `${row.name}: ${text}`)
    const began = performance.now()
    try {
      const running = await (early[i] ?? startRow(row))
      try {
        const metrics = await row.round(running, { ...options, pace })
        ;(pace === undefined ? state.closed : state.paced).push(metrics)
      } finally {
        await running.stop()
      }
      state.seconds += (performance.now() - began) / 1_000
    } catch (error) {
      options.signal?.throwIfAborted()
      state.failure = `${text}: ${formatFailure(error)}`
      progress?.skipRow(row.name)
    }
  }
}

/** Measures each pair once, with new starts. A failure counts for the first row. */
async function measurePairs(states: readonly RowState[], round: number, options: MeasureOptions): Promise<void> {
  const { comparisons = [], progress, rounds } = options
  for (const names of comparisons) {
    const [state, other] = names.map((name) => states.find(({ row }) => row.name === name))
    if (!state || !other || state.failure !== undefined || other.failure !== undefined) continue
    const text = `pair ${round + 1} of ${rounds}`
    options.signal?.throwIfAborted()
    progress?.begin({ row: toPairName(names), isPaced: false }, `${toPairName(names)}: ${text}`)
    try {
      const pair: RowPair = [state.row, other.row]
      const metrics = await runPairedRound(pair, round % 2 === 1, options)
      ;(state.comparisons[other.row.name] ??= []).push(metrics)
    } catch (error) {
      options.signal?.throwIfAborted()
      state.failure = `${text} with ${other.row.name}: ${formatFailure(error)}`
      progress?.skipRow(toPairName(names))
    }
  }
}
