import { runAlternating } from '../load/alternating.ts'
import { PINS } from '../processes.ts'
import type { BenchRow } from '../row.ts'
import { computeMedian } from '../statistics.ts'
import type { TargetProcess } from '../targets/target.ts'
import type { GuardRow } from './guard-rows.ts'

const WARM_UP_SLICES = 15
const SLICES = 20
const SLICE_MS = 100

/** Starts the target of a row in a checkout, and prepares it. @param env in addition to the environment of this process */
export async function startRow(
  { target, prepare }: BenchRow,
  checkout: string,
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

/** Starts both commits' services together and loads them in turn. @returns the ratio of their costs per request */
async function measureTogether(row: BenchRow, [own, base]: readonly string[]): Promise<number> {
  const running = [await startRow(row, own!)]
  try {
    running.push(await startRow(row, base!))
    const servers = running.map(({ url, pid, extraPids = [] }) => ({ url, pids: [pid, ...extraPids] }))
    const plan = { ...row.requests!, servers, warmUpSlices: WARM_UP_SLICES, slices: SLICES, sliceMs: SLICE_MS }
    const [a, b] = await runAlternating({ ...plan, pin: PINS.client! })
    return computeMedian(a!.map((cost, i) => cost / b![i]!))
  } finally {
    await Promise.all(running.map(({ stop }) => stop()))
  }
}

/** Measures a round of each commit, one after the other. @returns the ratio of a metric */
async function measureInTurn({ row, metric }: GuardRow, checkouts: readonly string[], isSwapped: boolean) {
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
  row.row.requests && row.metric === undefined
    ? measureTogether(row.row, pair % 2 === 0 ? checkouts : checkouts.toReversed()).then((ratio) =>
        pair % 2 === 0 ? ratio : 1 / ratio,
      )
    : measureInTurn(row, checkouts, pair % 2 === 1)
