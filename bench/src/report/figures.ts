import type { RowResult } from '../row.ts'
import { spread } from '../statistics.ts'
import { whole } from './numbers.ts'
import { bars, curves, type Bar, type Figure } from './svg.ts'

const POINTS = ['p50', 'p75', 'p90', 'p99', 'p99.9', 'max']

function barsOf(
  results: readonly RowResult[],
  valueOf: (round: RowResult['rounds'][number]) => number,
  withSource = false,
): Bar[] {
  return results.map(({ name, rounds, source }) => {
    const { median, min, max } = spread(rounds.map(valueOf))
    return { label: name, value: median, low: min, high: max, reference: withSource ? source : undefined }
  })
}

/** The plots of a table of requests. */
export function figuresOf(results: readonly RowResult[]): Figure[] {
  const done = results.filter(({ failure, rounds }) => failure === undefined && rounds.length > 0)
  const percentiles = done.flatMap(({ name, open }) => {
    if (!open) return []
    const { p50, p75, p90, p99, p999, max } = open.latency
    return [{ label: name, values: [p50, p75, p90, p99, p999, max] }]
  })
  const hasSource = done.some(({ source }) => source !== undefined)
  const cpu = barsOf(done, (round) => round.cpuPerRequest)
  const rates = barsOf(done, (round) => round.perSecond, true)
  const memory = barsOf(done, (round) => round.memory)
  const latency = () => ({
    title: 'Latency at a constant rate, from the intended start (us)',
    svg: curves(percentiles, POINTS, whole),
  })
  return [
    { title: 'Server processor time a request (us; less is better)', svg: bars(cpu, (value) => value.toFixed(1)) },
    {
      title: `Requests a second${hasSource ? ' (mark: the source, on its own machine)' : ''}`,
      svg: bars(rates, whole),
    },
    ...(percentiles.length > 0 ? [latency()] : []),
    { title: 'Resident memory (MB)', svg: bars(memory, whole) },
  ]
}
