import type { RowResult } from '../row.ts'
import { computeSpread } from '../statistics.ts'
import type { BenchTable } from '../table.ts'
import { toColumn, getMetric, getNumbers, getSource } from './columns.ts'
import { formatShort, formatWhole } from './format-numbers.ts'
import { renderBars, renderCurves, type Curve, type Plot } from './svg.ts'

type PlotTable = Pick<BenchTable, 'columns' | 'against'>

const LATENCY_POINTS = { p50: 'p50', p75: 'p75', p90: 'p90', p99: 'p99', p999: 'p99.9', max: 'max' }
const LATENCY_TITLE = 'Latency at a constant rate, from the intended start (us)'

/** Plots a column as bars, one for each row. */
function createBars(title: string, name: string, results: readonly RowResult[], format = formatShort): Plot[] {
  const rows = results.flatMap((result) => {
    const numbers = getNumbers(result, name)
    if (numbers.length === 0) return []
    const { median, min, max } = computeSpread(numbers)
    const source = getSource(result, name)
    const reference = typeof source === 'number' ? source : undefined
    return [{ label: result.name, value: median, low: min, high: max, reference }]
  })
  const marked = rows.some(({ reference }) => reference !== undefined)
  const fullTitle = marked ? `${title}; mark: value of the source, from its own machine` : title
  return rows.length > 0 ? [renderBars(fullTitle, rows, format)] : []
}

/** Returns the name of a row without its last part, the size. */
const getSeries = ({ name }: RowResult) => name.slice(0, Math.max(0, name.lastIndexOf(', '))) || name

/** Plots a column by size, with one curve for all rows that differ only in size. */
function createGrowthPlot(
  title: string,
  name: string,
  against: string,
  results: readonly RowResult[],
  format = formatShort,
): Plot[] {
  const lines = Map.groupBy(
    results.filter((result) => getMetric(result, name) !== undefined && getMetric(result, against) !== undefined),
    getSeries,
  )
  const drawn = Array.from(lines, ([label, rows]): Curve => {
    return { label, points: rows.map((row) => [getMetric(row, against)!, getMetric(row, name)!] as const) }
  })
  const sizes = drawn.flatMap(({ points }) => points.map(([size]) => size))
  const ticks = new Map(sizes.map((size) => [size, formatWhole(size)]))
  return drawn.length > 0 ? [renderCurves(`${title}, against ${against}`, drawn, ticks, format)] : []
}

function createLatencyPlot(results: readonly RowResult[]): Plot[] {
  const names = Object.keys(LATENCY_POINTS)
  const drawn = results.flatMap((result): Curve[] => {
    const points = names.map((name, i) => [i, getMetric(result, name)] as const)
    if (getMetric(result, 'rate') === undefined || points.some(([, value]) => value === undefined)) return []
    return [{ label: result.name, points: points as [number, number][] }]
  })
  const ticks = new Map(Object.values(LATENCY_POINTS).map((text, i) => [i, text]))
  return drawn.length > 0 ? [renderCurves(LATENCY_TITLE, drawn, ticks, formatWhole, true)] : []
}

/** Creates the plots of a table: of each column with a plot title, and of latencies if all percentiles are known. */
export function createPlots(results: readonly RowResult[], { columns, against }: PlotTable): Plot[] {
  const done = results.filter(({ failure }) => failure === undefined)
  const ofColumns = Object.entries(columns).flatMap(([name, plain]) => {
    const { plot, format } = toColumn(plain)
    if (plot === undefined) return []
    return against ? createGrowthPlot(plot, name, against, done, format) : createBars(plot, name, done, format)
  })
  return against ? ofColumns : [...ofColumns, ...createLatencyPlot(done)]
}
