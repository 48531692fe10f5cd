import { table } from '@influencer-stats/runtime/table'
import { GRACE } from '../load/common/own-process.ts'
import type { LoadResult } from '../load/load.ts'
import { hundredth, ms, percent, tenth, whole } from '../report/numbers.ts'

/** The load that a report is about. */
export interface RatePlan {
  readonly name: string
  /** Requests per second. */
  readonly rate: number
  readonly connections: number
  /** Measured seconds. */
  readonly seconds: number
}

export interface RateResult extends LoadResult {
  /** Processor time of the server as a share of one processor; NaN if it is unknown. */
  readonly share: number
}

/** Additional percentile of a run. */
export const MORE_PERCENTILES = [99.99] as const

/** A rate is reached from this share of it on. */
const REACHED = 0.98
/** From this share of the p99 latency on, the lateness of the generator explains the latency. */
const EXPLAINED = 0.5

const isReached = ({ rate, connections, seconds }: RatePlan, { perSecond }: RateResult): boolean =>
  // At the end of the window each connection may have a request under way: of 10 requests one is 10 %.
  perSecond * seconds + connections >= REACHED * rate * seconds

/** With less idle time than this the generator has no time for more requests. */
const MIN_IDLE = 0.1

/** The part that limited a run: the latencies are those of the service only if it is `none` or `service`. */
export function limitOf(plan: RatePlan, result: RateResult): 'none' | 'service' | 'generator' {
  if (result.lateness! >= EXPLAINED * result.latency.p99) return 'generator'
  if (isReached(plan, result)) return 'none'
  return result.idle! < MIN_IDLE ? 'generator' : 'service'
}

const milliseconds = (microseconds: number) => `${hundredth(ms(microseconds))} ms`
const rateText = (perSecond: number) => `${perSecond < 100 ? tenth(perSecond) : whole(perSecond)}/s`

function verdictOf(plan: RatePlan, result: RateResult): string {
  const [rate, achieved] = [rateText(plan.rate), rateText(result.perSecond)]
  const outcome = isReached(plan, result)
    ? `The rate was reached: ${achieved} of ${rate}.`
    : `The rate was NOT reached: ${achieved} of ${rate}.`
  switch (limitOf(plan, result)) {
    case 'generator':
      return `${outcome} The generator, or the processor that it had, was the limit, not the service: the latencies are mostly its own.`
    case 'service':
      return `${outcome} The generator had time for more: the service, or its machine, was the limit. Requests queue, so the latencies grow with --seconds.`
    default:
      return outcome
  }
}

/** Report of a run, as lines of text. The last line states if the rate was reached, and its limit. */
export function rateReport(plan: RatePlan, result: RateResult): string[] {
  const { requests, errors, wrong, latency, percentiles, lateness, idle, share } = result
  const { p50, p75, p90, p99, p999, max } = latency
  const times = { '50%': p50, '75%': p75, '90%': p90, '99%': p99, '99.9%': p999, '99.99%': percentiles!['99.99']!, max }
  const server = Number.isFinite(share) ? `${percent(share)} of a processor` : 'CPU unknown'
  return [
    `${plan.name}: ${rateText(plan.rate)} for ${plan.seconds} s`,
    '',
    'latency (ms) from the intended start of each request:',
    ...Object.entries(times).map(([name, time]) => `${name.padStart(9)}  ${hundredth(ms(time)).padStart(10)}`),
    '',
    ...table([
      ['rate', `${rateText(result.perSecond)} answered, ${rateText(plan.rate)} intended`],
      [
        'requests',
        `${whole(requests + errors)} due: ${whole(requests)} answered, ${whole(errors)} not within ${GRACE} s of the end; ${whole(wrong)} wrong`,
      ],
      ['generator', `${milliseconds(lateness!)} late (p99), idle for ${percent(idle!)} of the time`],
      ['server', server],
    ]),
    '',
    verdictOf(plan, result),
  ]
}
