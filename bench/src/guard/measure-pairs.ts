import { runAlternating } from '../load/alternating.ts'
import { toAlternatingServer } from '../rounds/paired-round.ts'
import { startRow } from '../rounds/start-row.ts'
import { PINS } from '../processes.ts'
import { computeMedian } from '../statistics.ts'
import { startTogether, type TargetProcess } from '../targets/target.ts'
import type { GuardRow } from './guard-rows.ts'

const WARM_UP_SLICES = 32
const SLICES = 50
// On a busy machine, the medians of 40 slices of 25 ms varied half as much as those of 10 slices of 100 ms.
const SLICE_MS = 25

/** True if both services of a row are loaded in turn, with requests. Other rows are measured in rounds. */
export const isLoadedInTurn = ({ row, metric }: GuardRow): boolean => row.requests !== undefined && metric === undefined

/** The load of a row for running services, in slices that alternate between them. */
export const createAlternatingLoad = ({ row }: GuardRow, running: readonly TargetProcess[]) => ({
  servers: running.map((one) => toAlternatingServer(row, one)),
  sliceMs: SLICE_MS,
  pin: PINS.client!,
})

/** Loads running services in turn. @returns their costs per request in each slice */
const loadInTurn = (row: GuardRow, running: readonly TargetProcess[]) =>
  runAlternating({ ...createAlternatingLoad(row, running), warmUpSlices: WARM_UP_SLICES, slices: SLICES })

/**
 * Measures a round of each service, all at the same time: a machine that becomes slower slows both.
 * @returns the metric of each
 */
const measureAtOnce = ({ row, metric }: GuardRow, running: readonly TargetProcess[], checkouts: readonly string[]) =>
  Promise.all(
    running.map(async (one, i) => {
      const metrics = await row.round(one, { duration: 1.5, warmUp: 1, checkout: checkouts[i]! })
      return [metrics[metric!] as number]
    }),
  )

/**
 * Compares two checkouts at a row, each with a start of its own.
 * @param checkouts the folders of this commit and of the base
 * @returns cost of this commit as a multiple of the base's
 */
export async function measurePair(row: GuardRow, checkouts: readonly string[], pair: number): Promise<number> {
  const swapIfNeeded = <T>(items: readonly T[]) => (pair % 2 === 1 ? items.toReversed() : items)
  const ordered = swapIfNeeded(checkouts)
  const running = await startTogether(ordered.map((checkout) => startRow(row.row, checkout)))
  try {
    const costs = isLoadedInTurn(row) ? await loadInTurn(row, running) : await measureAtOnce(row, running, ordered)
    const [own, base] = swapIfNeeded(costs)
    return computeMedian(own!.map((cost, i) => cost / base![i]!))
  } finally {
    await Promise.all(running.map(({ stop }) => stop()))
  }
}
