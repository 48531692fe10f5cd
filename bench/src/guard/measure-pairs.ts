import { runAlternating } from '../load/alternating.ts'
import { startRow } from '../measure.ts'
import { PINS } from '../processes.ts'
import { computeMedian } from '../statistics.ts'
import { startTogether, type TargetProcess } from '../targets/target.ts'
import type { GuardRow } from './guard-rows.ts'

const WARM_UP_SLICES = 8
const SLICES = 10
const SLICE_MS = 100

/** True if both services of a row are loaded in turn. Rounds of the other rows run one after the other. */
export const isLoadedInTurn = ({ row, metric }: GuardRow): boolean => row.requests !== undefined && metric === undefined

/** The load of a row for running services, in slices that alternate between them. */
export const createAlternatingLoad = ({ row }: GuardRow, running: readonly TargetProcess[]) => ({
  ...row.requests!,
  servers: running.map(({ url, pid, extraPids = [] }) => ({ url, pids: [pid, ...extraPids] })),
  sliceMs: SLICE_MS,
  pin: PINS.client!,
})

/** Starts both commits' services together and loads them in turn. @returns the ratio of their costs per request */
async function measureTogether(row: GuardRow, checkouts: readonly string[], isSwapped: boolean): Promise<number> {
  const swapIfNeeded = <T>(pair: readonly T[]) => (isSwapped ? pair.toReversed() : pair)
  const running = await startTogether(swapIfNeeded(checkouts).map((checkout) => startRow(row.row, checkout)))
  try {
    const load = createAlternatingLoad(row, running)
    const costs = await runAlternating({ ...load, warmUpSlices: WARM_UP_SLICES, slices: SLICES })
    const [own, base] = swapIfNeeded(costs)
    return computeMedian(own!.map((cost, i) => cost / base![i]!))
  } finally {
    await Promise.all(running.map(({ stop }) => stop()))
  }
}

/** Measures a round of each commit, one after the other. @returns the ratio of a metric */
async function measureOneByOne({ row, metric }: GuardRow, checkouts: readonly string[], isSwapped: boolean) {
  const values: number[] = []
  for (const i of isSwapped ? [1, 0] : [0, 1]) {
    const running = await startRow(row, checkouts[i]!)
    try {
      const metrics = await row.round(running, { duration: 1.5, warmUp: 1, paced: false, checkout: checkouts[i]! })
      values[i] = metrics[metric!] as number
    } finally {
      await running.stop()
    }
  }
  return values[0]! / values[1]!
}

/**
 * Compares two checkouts at a row, each with a start of its own.
 * @param checkouts the folders of this commit and of the base
 * @returns cost of this commit as a multiple of the base's
 */
export const measurePair = (row: GuardRow, checkouts: readonly string[], pair: number): Promise<number> =>
  (isLoadedInTurn(row) ? measureTogether : measureOneByOne)(row, checkouts, pair % 2 === 1)
