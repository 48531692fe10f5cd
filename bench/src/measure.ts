import type { TargetProcess } from './targets/target.ts'
import type { RowMetrics, RoundOptions, BenchRow, RowResult } from './row.ts'

export interface MeasureOptions extends Omit<RoundOptions, 'paced'> {
  /** Number of rounds of each row. */
  readonly rounds: number
  /** True to start the targets of a round at the same time, because some take long until they are ready. */
  readonly together?: boolean | undefined
  /** False to omit the open loop at a constant rate, with its latencies. By default every second round of requests has one. */
  readonly latencies?: boolean
  /** Aborted to stop the measurement. A running step ends when its processes end. */
  readonly signal?: AbortSignal
  /** Called before each step with its text, its number, and the number of steps. */
  onStep?(what: string, step: number, steps: number): void
}

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
  const { rounds, together, latencies = true, onStep } = options
  const states = rows.map((row) => ({ row, rounds: [] as RowMetrics[], failure: undefined as string | undefined }))
  let step = 0
  for (let round = 0; round < rounds; round++) {
    const roundOptions = { ...options, paced: latencies && round % 2 === 0 }
    const alive = rotate(states, round).filter(({ failure }) => failure === undefined)
    const early = alive.map(({ row }) => (together ? startRow(row) : undefined))
    // A failed start is reported in the step of its row.
    for (const each of early) each?.catch(() => {})
    // The first measurement waits until all targets have started, because a starting target uses processor time.
    await Promise.allSettled(early)
    for (const [i, state] of alive.entries()) {
      onStep?.(`${state.row.name}: round ${round + 1} of ${rounds}`, ++step, rounds * rows.length)
      try {
        const running = await (early[i] ?? startRow(state.row))
        try {
          state.rounds.push(await state.row.round(running, roundOptions))
        } finally {
          await running.stop()
        }
      } catch (error) {
        options.signal?.throwIfAborted()
        state.failure = `round ${round + 1} of ${rounds}: ${formatFailure(error)}`
      }
    }
  }
  return states.map(({ row: { name, target, source }, rounds: done, failure }) => {
    return { name, contender: target.name, source, starts: done.length, rounds: done, failure }
  })
}
