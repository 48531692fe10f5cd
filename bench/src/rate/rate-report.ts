import { formatTable } from '@influencer-stats/runtime/text-table'
import { GRACE_S } from '../load/common/process-runner.ts'
import type { LoadResult } from '../load/load-plan.ts'
import { formatHundredth, toMilliseconds, formatPercent, formatTenth, formatWhole } from '../report/format-numbers.ts'

/** The load of a run. */
export interface RatePlan {
  readonly name: string
  /** Requests per second. */
  readonly rate: number
  readonly connections: number
  /** Measured seconds. */
  readonly seconds: number
}

/** The result of a run. */
export interface RateResult extends LoadResult {
  /** Processor time of the server as a share of one processor; NaN if it is unknown. */
  readonly share: number
}

/** Additional percentile of a run. */
export const EXTRA_PERCENTILES = [99.99] as const

/** Share of the rate from which on the rate counts as reached. */
const MIN_REACHED_SHARE = 0.98
/** Share of the p99 latency from which on the lateness of the generator counts as the cause of the latency. */
const MIN_LATENESS_SHARE = 0.5

const isReached = ({ rate, connections, seconds }: RatePlan, { perSecond }: RateResult): boolean =>
  // At the end, each connection may have an outstanding request, which may be a large share of few requests.
  perSecond * seconds + connections >= MIN_REACHED_SHARE * rate * seconds

/** Idle share of the generator below which it cannot send more requests. */
const MIN_IDLE_SHARE = 0.1

/** Returns the limit of a run. The latencies are those of the service only if it is `none` or `service`. */
export function findLimit(plan: RatePlan, result: RateResult): 'none' | 'service' | 'generator' {
  if (result.lateness! >= MIN_LATENESS_SHARE * result.latency.p99) return 'generator'
  if (isReached(plan, result)) return 'none'
  return result.idle! < MIN_IDLE_SHARE ? 'generator' : 'service'
}

const formatMilliseconds = (microseconds: number) => `${formatHundredth(toMilliseconds(microseconds))} ms`
const formatRate = (perSecond: number) => `${perSecond < 100 ? formatTenth(perSecond) : formatWhole(perSecond)}/s`

function formatVerdict(plan: RatePlan, result: RateResult): string {
  const [rate, achieved] = [formatRate(plan.rate), formatRate(result.perSecond)]
  const outcome = isReached(plan, result)
    ? `The rate was reached: ${achieved} of ${rate}.`
    : `The rate was NOT reached: ${achieved} of ${rate}.`
  switch (findLimit(plan, result)) {
    case 'generator':
      return `${outcome} The generator or its processor was the limit, not the service: the latencies are mainly those of the generator.`
    case 'service':
      return `${outcome} The generator was not the limit: the service or its machine was. Requests queue, so the latencies grow with --seconds.`
    default:
      return outcome
  }
}

/** Builds the report of a run in lines. The last one states if the rate was reached, and the limit otherwise. */
export function buildRateReport(plan: RatePlan, result: RateResult): string[] {
  const { requests, errors, wrong, latency, percentiles, lateness, idle, share } = result
  const { p50, p75, p90, p99, p999, max } = latency
  const times = { '50%': p50, '75%': p75, '90%': p90, '99%': p99, '99.9%': p999, '99.99%': percentiles!['99.99']!, max }
  const server = Number.isFinite(share) ? `${formatPercent(share)} of a processor` : 'CPU unknown'
  return [
    `${plan.name}: ${formatRate(plan.rate)} for ${plan.seconds} s`,
    '',
    'latency (ms) from the intended start of each request:',
    ...Object.entries(times).map(
      ([name, time]) => `${name.padStart(9)}  ${formatHundredth(toMilliseconds(time)).padStart(10)}`,
    ),
    '',
    ...formatTable([
      ['rate', `${formatRate(result.perSecond)} answered, ${formatRate(plan.rate)} intended`],
      [
        'requests',
        `${formatWhole(requests + errors)} due: ${formatWhole(requests)} answered, ${formatWhole(errors)} not within ${GRACE_S} s of the end; ${formatWhole(wrong)} wrong`,
      ],
      ['generator', `${formatMilliseconds(lateness!)} late (p99), idle for ${formatPercent(idle!)} of the time`],
      ['server', server],
    ]),
    '',
    formatVerdict(plan, result),
  ]
}
