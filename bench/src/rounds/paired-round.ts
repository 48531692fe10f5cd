import { runComparedAlternating, type AlternatingServer } from '../load/alternating.ts'
import { PINS } from '../processes.ts'
import type { BenchRow, PairMetrics, RoundOptions } from '../row.ts'
import { startTogether, type TargetProcess } from '../targets/target.ts'
import { startRow } from './start-row.ts'
import { MAX_WARM_UPS, WARM_UP_REQUESTS } from './warm-up.ts'

// On a shared machine the speed changes within seconds. In such short slices it changes for both targets.
const SLICE_MS = 25
const toSlices = (seconds: number) => Math.ceil((seconds * 1000) / SLICE_MS)

/** Returns a running target of a row that sends requests, with its load. @param connections instead of those of the row */
export const toAlternatingServer = (
  { requests }: BenchRow,
  { url, pid, extraPids = [] }: TargetProcess,
  connections = requests!.connections,
): AlternatingServer => ({ ...requests!, connections, url, pids: [pid, ...extraPids] })

export type RowPair = readonly [BenchRow, BenchRow]

/** True if both rows of a pair send requests to one address, so they can be loaded in turn. */
export const canLoadInTurn = (pair: RowPair): boolean => pair.every(({ requests }) => requests !== undefined)

/**
 * Starts the targets of two rows, and loads them in turn with their requests (`canLoadInTurn`).
 * @param isSwapped true if the second target comes first
 * @param options `duration` is the measured time of each target
 * @throws Error if a target did not start, or if a reply was wrong or missing
 */
export async function runPairedRound(
  pair: RowPair,
  isSwapped: boolean,
  { connections, duration, warmUp }: Pick<RoundOptions, 'connections' | 'duration' | 'warmUp'>,
): Promise<PairMetrics> {
  const swapIfNeeded = <T>(items: readonly T[]) => (isSwapped ? items.toReversed() : [...items])
  const ordered = swapIfNeeded(pair)
  const running = await startTogether(ordered.map((row) => startRow(row)))
  try {
    const costs = await runComparedAlternating({
      servers: ordered.map((row, i) => toAlternatingServer(row, running[i]!, connections)),
      warmUpSlices: toSlices(MAX_WARM_UPS * warmUp),
      warmUpRequests: WARM_UP_REQUESTS,
      slices: toSlices(duration),
      sliceMs: SLICE_MS,
      pin: PINS.client!,
    })
    const [a, b] = swapIfNeeded(costs)
    return {
      cpu: a!.cpu / b!.cpu,
      perSecond: a!.perSecond / b!.perSecond,
      generator: Math.max(a!.generator, b!.generator),
    }
  } finally {
    await Promise.all(running.map(({ stop }) => stop()))
  }
}
