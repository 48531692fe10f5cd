import { SATURATED } from './load/load.ts'
import type { Round, RowResult } from './row.ts'
import { isDifference, medianInterval, type Interval } from './statistics.ts'

/** One figure of A as a multiple of B's. */
export interface Ratio extends Interval {
  readonly figure: string
  readonly ratios: readonly number[]
  readonly differs: boolean
  /** Whether a side was limited by its generator: then this is no ratio of what the servers can do. */
  readonly limited: boolean
}

const RATE = 'requests/s'
const FIGURES: Record<string, (round: Round) => number> = {
  'CPU per request': ({ cpuPerRequest }) => cpuPerRequest,
  [RATE]: ({ perSecond }) => perSecond,
}

/** Every figure of A as a multiple of B's, from rounds that were measured next to each other. */
export function ratiosOf(a: readonly Round[], b: readonly Round[]): Ratio[] {
  const pairs = Math.min(a.length, b.length)
  const saturated = [...a, ...b].some(({ clientCpu }) => clientCpu >= SATURATED)
  return Object.entries(FIGURES).map(([figure, valueOf]) => {
    const ratios = Array.from({ length: pairs }, (_, i) => valueOf(a[i]!) / valueOf(b[i]!))
    const interval = medianInterval(ratios)
    const limited = saturated && figure === RATE
    return { figure, ratios, ...interval, limited, differs: !limited && isDifference(interval) }
  })
}

/** The median, its interval and how sure that is, as text. */
export const intervalText = ({ median, low, high, confidence }: Interval): string =>
  `${median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}, ${Math.round(confidence * 100)} % sure)`

/** What a ratio is, or why it cannot be told. */
export const ratioText = (ratio: Ratio): string =>
  ratio.limited ? 'the generator was the limit: compare CPU' : intervalText(ratio)

/** A row against another one of the same run. */
export interface Step {
  readonly name: string
  readonly ratios: readonly Ratio[]
}

/** What each named row is of another: the gain or the loss of a step. Steps without a result on both sides are left out. */
export function stepsOf(results: readonly RowResult[], steps: readonly (readonly [string, string])[]): Step[] {
  const find = (name: string) => results.find((row) => row.name === name && row.failure === undefined)
  return steps.flatMap(([of, against]) => {
    const [a, b] = [find(of), find(against)]
    return a && b ? [{ name: `${of} / ${against}`, ratios: ratiosOf(a.rounds, b.rounds) }] : []
  })
}
