import type { Progress } from './progress.ts'
import type { RunStep } from './remaining-time.ts'
import type { TargetProcess } from './targets/target.ts'
import type { RowMetrics, RoundOptions, BenchRow, RowResult } from './row.ts'

export interface MeasureOptions extends Omit<RoundOptions, 'paced'> {
  /** Number of rounds of each row. */
  readonly rounds: number
  /** True to start the targets of a round at the same time, because some take long until they are ready. */
  readonly together?: boolean | undefined
  /** False to omit the open loop at a constant rate, with its latencies. By default every second round of requests has one. */
  readonly latencies?: boolean
  /** Aborted to stop the measurement. A running step ends when its processes end; no other begins. */
  readonly signal?: AbortSignal
  /** Shows the steps. */
  readonly progress?: Pick<Progress, 'begin' | 'skipRow'>
}

/** Plans the steps of a measurement, for `createProgress`. */
export const planSteps = (
  rows: readonly BenchRow[],
  { rounds, latencies = true }: Pick<MeasureOptions, 'rounds' | 'latencies'>,
): RunStep[] => Array.from({ length: rounds }, (_, round) => rows.map((row) => toStep(row, round, latencies))).flat()

/** Every second round of requests also measures latencies. */
const isRoundPaced = (round: number, latencies: boolean) => latencies && round % 2 === 0
const toStep = ({ name }: BenchRow, round: number, latencies: boolean): RunStep => ({
  row: name,
  isPaced: isRoundPaced(round, latencies),
})

const MAX_FAILURE_LENGTH = 200

/** Returns the message of an error in one line. */
const formatFailure = (error: unknown): string =>
  (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, MAX_FAILURE_LENGTH)

/**
 * Starts the target of a row, and prepares it.
 * @param checkout folder of another checkout whose service starts
 * @param env in addition to the environment of this process
 */
export async function startRow(
  { target, prepare }: BenchRow,
  checkout?: string,
  env?: Readonly<Record<string, string>>,
): Promise<TargetProcess> {
  const running = await target.start(checkout, env)
  try {
    await prepare?.(running)
    return running
  } catch (error) {
    await running.stop()
    throw error
  }
}

/** Returns the items in another order for each round, so that another row comes first. */
function rotate<T>(items: readonly T[], round: number): T[] {
  const turn = round % items.length
  return [...items.slice(turn), ...items.slice(0, turn)]
}

/**
 * Measures one round of each row, then the next round of each row, and so on. So a change of the machine's speed
 * affects all rows equally. Each round starts its target again, so the variation between rounds includes the variation
 * between starts. If a row fails, its result has the failure, and the other rows continue.
 */
export async function measure(rows: readonly BenchRow[], options: MeasureOptions): Promise<RowResult[]> {
  const { rounds, together, latencies = true, progress } = options
  const states = rows.map((row) => ({
    row,
    rounds: [] as RowMetrics[],
    seconds: 0,
    failure: undefined as string | undefined,
  }))
  for (let round = 0; round < rounds; round++) {
    const roundOptions = { ...options, paced: isRoundPaced(round, latencies) }
    const alive = rotate(states, round).filter(({ failure }) => failure === undefined)
    const early = alive.map(({ row }) => (together ? startRow(row) : undefined))
    // A failed start is reported in the step of its row.
    for (const each of early) each?.catch(() => {})
    // The first measurement waits until all targets have started, because a starting target uses processor time.
    await Promise.allSettled(early)
    for (const [i, state] of alive.entries()) {
      options.signal?.throwIfAborted()
      progress?.begin(toStep(state.row, round, latencies), `${state.row.name}: round ${round + 1} of ${rounds}`)
      const began = performance.now()
      try {
        const running = await (early[i] ?? startRow(state.row))
        try {
          state.rounds.push(await state.row.round(running, roundOptions))
        } finally {
          await running.stop()
        }
        state.seconds += (performance.now() - began) / 1_000
      } catch (error) {
        options.signal?.throwIfAborted()
        state.failure = `round ${round + 1} of ${rounds}: ${formatFailure(error)}`
        progress?.skipRow(state.row.name)
      }
    }
  }
  return states.map(({ row: { name, target, source }, rounds: done, seconds, failure }) => {
    const stepSeconds = done.length > 0 ? Math.round((seconds / done.length) * 10) / 10 : undefined
    const roundSeconds = options.duration
    return {
      name,
      contender: target.name,
      source,
      starts: done.length,
      stepSeconds,
      roundSeconds,
      rounds: done,
      failure,
    }
  })
}
