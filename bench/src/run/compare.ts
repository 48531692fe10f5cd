import type { BenchArguments } from '../arguments.ts'
import { describeMachine, formatMachine } from '../machine.ts'
import { measure, planSteps, type MeasureOptions } from '../measure.ts'
import { createProgress } from '../progress.ts'
import { computeRatios, formatRatio } from '../ratios.ts'
import { readResults } from '../report/results.ts'
import { canLoadInTurn } from '../rounds/paired-round.ts'
import type { BenchRow, RowMetrics } from '../row.ts'
import { hasPairs } from '../table.ts'
import { assertKnownSpecs } from '../tables/assert-known-specs.ts'
import { findPair, type FoundRow } from '../tables/find-row.ts'
import { formatConnections } from '../tables/kv.ts'
import { isInstalled } from '../targets/program.ts'

/** Maximum load at which a comparison prints no warning (busy processes). */
const MAX_COMPARE_LOAD = 1

type Pair = readonly [FoundRow, FoundRow]
type PairArguments = Pick<BenchArguments, 'pairs' | 'generator'>
/** The rows of a comparison, and how they are measured. */
interface ComparePlan {
  readonly rows: readonly BenchRow[]
  readonly options: Pick<MeasureOptions, 'rounds' | 'latencies' | 'steps'> &
    Required<Pick<MeasureOptions, 'comparisons'>>
}

/**
 * Plans a comparison as its table measures the ratio: with both programs loaded in turn, in rounds at a pace, or in
 * rounds without one.
 */
export function planCompare([a, b]: Pair, { pairs, generator }: PairArguments): ComparePlan {
  const names = [a.row.name, b.row.name] as const
  const options = { rounds: pairs, latencies: false, comparisons: [], steps: [names] }
  if (hasPairs(a.table) && generator === 'raw' && canLoadInTurn([a.row, b.row])) {
    const rows = [a, b].map(({ row }) => ({ ...row, maxRounds: 0 }))
    return { rows, options: { ...options, comparisons: [names] } }
  }
  if ([a, b].some(({ row }) => row.maxPacedRounds === undefined)) return { rows: [a.row, b.row], options }
  const published = readResults([a.table]).flatMap(({ results }) => results.flatMap(({ rounds }) => rounds))
  const rows = [a, b].map(({ row }) => withPublishedPace(row, published, pairs))
  return { rows, options: { ...options, latencies: true } }
}

/**
 * Limits the capacity of a row to the lowest one in the published rounds of its table. So the pace is that of the
 * published ratios, unless one of the two rows has a lower capacity here.
 */
function withPublishedPace(row: BenchRow, published: readonly RowMetrics[], pairs: number): BenchRow {
  const getCapacity = row.getCapacity!
  const limit = Math.min(...published.map(getCapacity).filter(Number.isFinite))
  return {
    ...row,
    maxRounds: 1,
    maxPacedRounds: pairs,
    getCapacity: (metrics) => Math.min(getCapacity(metrics), limit),
  }
}

/** Formats the load of a comparison. */
function formatLoad({ row }: FoundRow, { connections, duration, pairs }: BenchArguments): string {
  const used = connections ?? row.requests?.connections
  return [...(used === undefined ? [] : [formatConnections(used)]), `${pairs} pairs of ${duration} s`].join(', ')
}

/**
 * Compares two rows, and prints their ratios.
 * @param signal aborted to stop the measurement
 * @returns true if no row failed
 */
export async function runCompare(
  args: BenchArguments,
  print: (text: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const pair = findPair(args.compared)
  await assertKnownSpecs(pair.flatMap(({ row }) => row.target.service?.spec ?? []))
  const missing = pair.find(({ row }) => !isInstalled(row.target))
  if (missing) throw new Error(`${missing.row.target.name} is not installed here`)
  const [a, b] = pair
  const machine = describeMachine()
  const { rows, options } = planCompare(pair, args)
  const how = options.comparisons.length > 0 ? ', loaded in turn' : ''
  print(`${formatMachine(machine)}; ${formatLoad(a, args)}${how}`)
  if (machine.load > MAX_COMPARE_LOAD)
    print(`The machine is busy (load ${machine.load}): intervals are wider, and both rows may wait for other programs.`)
  const progress = createProgress(process.stderr, planSteps(rows, options))
  const results = await measure(rows, { ...args, ...options, progress, signal })
  progress.pause()
  for (const { name, failure } of results) if (failure) process.stderr.write(`FAILED ${name}: ${failure}\n`)
  if (results.some(({ failure }) => failure !== undefined)) return false
  for (const ratio of computeRatios(results[0]!, results[1]!, a.table.columns)) {
    const verdict = ratio.limited ? '' : `: ${ratio.verdict}`
    print(`${ratio.heading}: ${a.row.name} / ${b.row.name} = ${formatRatio(ratio)}${verdict}`)
  }
  return true
}
