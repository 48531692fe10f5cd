import type { TargetProcess } from './targets/target.ts'
import type { RowMetrics, RoundOptions, BenchRow, RowResult } from './row.ts'

export interface MeasureOptions extends Omit<RoundOptions, 'paced'> {
  readonly rounds: number
  /** True to start the targets of a round together: some wait for the next round of a cache. */
  readonly together?: boolean | undefined
  /** True if every second round measures latencies; not needed for ratios alone. */
  readonly latencies?: boolean
  /** Prevents further steps. A running step ends with the processes that it waits for. */
  readonly signal?: AbortSignal
  /** Called before each step with its text, its number, and the number of steps. */
  onStep?(what: string, step: number, steps: number): void
}

const MAX_FAILURE_LENGTH = 200

/** Message of an error, in one line. */
const formatFailure = (error: unknown): string =>
  (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, MAX_FAILURE_LENGTH)

async function start({ target, prepare }: BenchRow): Promise<TargetProcess> {
  const running = await target.start()
  try {
    await prepare?.(running)
    return running
  } catch (error) {
    await running.stop()
    throw error
  }
}

/** Rotates the order in each round, so that no row always follows the same one. */
function rotate<T>(items: readonly T[], round: number): T[] {
  const turn = round % items.length
  return [...items.slice(turn), ...items.slice(0, turn)]
}

/**
 * Measures rows in turn, round after round, so that a change of the machine's speed affects all equally. Each round
 * starts its target again, so that the variation between rounds includes that between starts. A failed row reports its
 * failure; the others continue.
 */
export async function measure(rows: readonly BenchRow[], options: MeasureOptions): Promise<RowResult[]> {
  const { rounds, together, latencies = true, onStep } = options
  const states = rows.map((row) => ({ row, rounds: [] as RowMetrics[], failure: undefined as string | undefined }))
  let step = 0
  for (let round = 0; round < rounds; round++) {
    const roundOptions = { ...options, paced: latencies && round % 2 === 0 }
    const alive = rotate(states, round).filter(({ failure }) => failure === undefined)
    const early = alive.map(({ row }) => (together ? start(row) : undefined))
    // Their failures are reported in their own step.
    for (const each of early) each?.catch(() => {})
    // The first measurement waits until all have started: a target that starts meanwhile would use its processor.
    await Promise.allSettled(early)
    for (const [i, state] of alive.entries()) {
      onStep?.(`${state.row.name}: round ${round + 1} of ${rounds}`, ++step, rounds * rows.length)
      try {
        const running = await (early[i] ?? start(state.row))
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
  return states.map(({ row: { name, target: contender, source }, rounds: done, failure }) => {
    return { name, contender: contender.name, source, starts: done.length, rounds: done, failure }
  })
}
