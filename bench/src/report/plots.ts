import type { RowResult } from '../row.ts'
import { spread } from '../statistics.ts'
import type { Table } from '../tables/table.ts'
import { columnOf, figureOf, numbersOf, sourceOf } from './columns.ts'
import { short, whole } from './numbers.ts'
import { bars, curves, type Curve, type Figure } from './svg.ts'

type Shown = Pick<Table, 'columns' | 'against'>

const POINTS = { p50: 'p50', p75: 'p75', p90: 'p90', p99: 'p99', p999: 'p99.9', max: 'max' }
const LATENCY = 'Latency at a constant rate, from the intended start (us)'

/** A column as bars, a row each. */
function barsOf(title: string, name: string, results: readonly RowResult[], format = short): Figure[] {
  const rows = results.flatMap((result) => {
    const numbers = numbersOf(result, name)
    if (numbers.length === 0) return []
    const { median, min, max } = spread(numbers)
    const source = sourceOf(result, name)
    const reference = typeof source === 'number' ? source : undefined
    return [{ label: result.name, value: median, low: min, high: max, reference }]
  })
  const marked = rows.some(({ reference }) => reference !== undefined)
  const told = marked ? `${title}; mark: the source, on its own machine` : title
  return rows.length > 0 ? [bars(told, rows, format)] : []
}

/** What a row is called without its size, which stands last. */
const seriesOf = ({ name }: RowResult) => name.slice(0, Math.max(0, name.lastIndexOf(', '))) || name

/** A column against a size, a curve for all rows that differ in their size alone. */
function growthOf(
  title: string,
  name: string,
  against: string,
  results: readonly RowResult[],
  format = short,
): Figure[] {
  const lines = Map.groupBy(
    results.filter((result) => figureOf(result, name) !== undefined && figureOf(result, against) !== undefined),
    seriesOf,
  )
  const drawn = Array.from(lines, ([label, rows]): Curve => {
    return { label, points: rows.map((row) => [figureOf(row, against)!, figureOf(row, name)!] as const) }
  })
  const sizes = drawn.flatMap(({ points }) => points.map(([size]) => size))
  const ticks = new Map(sizes.map((size) => [size, whole(size)]))
  return drawn.length > 0 ? [curves(`${title}, against ${against}`, drawn, ticks, format)] : []
}

function latencyOf(results: readonly RowResult[]): Figure[] {
  const names = Object.keys(POINTS)
  const drawn = results.flatMap((result): Curve[] => {
    const points = names.map((name, i) => [i, figureOf(result, name)] as const)
    if (figureOf(result, 'rate') === undefined || points.some(([, value]) => value === undefined)) return []
    return [{ label: result.name, points: points as [number, number][] }]
  })
  const ticks = new Map(Object.values(POINTS).map((text, i) => [i, text]))
  return drawn.length > 0 ? [curves(LATENCY, drawn, ticks, whole, true)] : []
}

/** The plots of a table: of each column that has a title for one, and of latencies where all points are known. */
export function plotsOf(results: readonly RowResult[], { columns, against }: Shown): Figure[] {
  const done = results.filter(({ failure }) => failure === undefined)
  const ofColumns = Object.entries(columns).flatMap(([name, plain]) => {
    const { plot, format } = columnOf(plain)
    if (plot === undefined) return []
    return against ? growthOf(plot, name, against, done, format) : barsOf(plot, name, done, format)
  })
  return against ? ofColumns : [...ofColumns, ...latencyOf(done)]
}
