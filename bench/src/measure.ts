import type { TargetProcess } from './targets/target.ts'
import type { RowMetrics, RoundOptions, BenchRow, RowResult } from './row.ts'

export interface MeasureOptions extends Omit<RoundOptions, 'paced'> {
  readonly rounds: number
  /** Whether the contenders of a round are started together: some wait for the next round of a cache. */
  readonly together?: boolean | undefined
  /** Whether every other round tells latencies; not where only ratios are wanted. */
  readonly latencies?: boolean
  /** Ends all that has not begun: what has, ends with the processes that it waits for. */
  readonly signal?: AbortSignal
  /** Told before each step: what it is, and which of how many. */
  onStep?(what: string, step: number, steps: number): void
}

const MAX_FAILURE_LENGTH = 200

/** What an error says, in one line. */
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

/** Another order every round: no row always follows the same one. */
function rotate<T>(items: readonly T[], round: number): T[] {
  const turn = round % items.length
  return [...items.slice(turn), ...items.slice(0, turn)]
}

/**
 * Measures rows in turn, round after round, so that a change of the machine's speed meets all alike; and each round on a
 * contender that is started for it, so that what differs from start to start is in what rounds differ by. A row that fails
 * says so; the others go on.
 */
export async function measure(rows: readonly BenchRow[], options: MeasureOptions): Promise<RowResult[]> {
  const { rounds, together, latencies = true, onStep } = options
  const states = rows.map((row) => ({ row, rounds: [] as RowMetrics[], failure: undefined as string | undefined }))
  let step = 0
  for (let round = 0; round < rounds; round++) {
    const roundOptions = { ...options, paced: latencies && round % 2 === 0 }
    const alive = rotate(states, round).filter(({ failure }) => failure === undefined)
    const early = alive.map(({ row }) => (together ? start(row) : undefined))
    // Their failures are told when it is their turn.
    for (const each of early) each?.catch(() => {})
    // The first is measured when all have started: what starts beside it would take its processor.
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
