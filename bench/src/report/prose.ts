import { computeRatio } from '../ratios.ts'
import { formatCell, toColumn, getMetric, isSource, getSource } from './columns.ts'
import { formatBounds, formatFactor, formatShort } from './format-numbers.ts'
import type { PublishedTable } from './results.ts'

/**
 * A number in a text, with a mark that names its table, row and metric: `<!--= stats/server-adapters: v8 perSecond
 * -->47,316<!--/-->`. With two rows it is the ratio of their metrics: `<!--= kv/entity: GET / bare GET cpu
 * -->1.46 (1.31 to 1.86)<!--/-->`, with its lowest and highest value. With results of several processor models it is the range
 * of their numbers: `0.73 to 1.26`.
 */
const MARK_PATTERN = /<!--= ([a-z]+\/[a-z-]+): (.+?) ([A-Za-z0-9]+|source: [A-Za-z0-9]+) -->[^<]*<!--\/-->/g

/** The processor models of all results: `<!--= processors -->one kind of processor, AMD EPYC<!--/-->`. */
const PROCESSORS_MARK_PATTERN = /(<!--= processors -->)[^<]*(<!--\/-->)/g

/** A number of a mark from the results of one machine. */
interface MarkedNumber {
  readonly value: number
  readonly text: string
  /** Lowest and highest value of a ratio: its interval, or its rounds if there were too few for an interval. */
  readonly range?: readonly [low: number, high: number]
}

/** @throws Error if the ratio does not exist, or if the generator was the limit */
function getRatio({ results }: PublishedTable, [of, against]: readonly string[], name: string): MarkedNumber {
  const [a, b] = [of, against].map((row) => results.find((result) => result.name === row))
  if (!a || !b || getMetric(a, name) === undefined) throw new Error('there is no ratio')
  const { median, low, high, limited } = computeRatio(a, b, name)
  if (limited) throw new Error('the generator was the limit')
  return { value: median, text: formatFactor(median, 2), range: [low, high] }
}

/** @throws Error if the row has no result */
function getNumber({ table, results }: PublishedTable, row: string, name: string): MarkedNumber {
  const result = results.find((one) => one.name === row)
  if (!result) throw new Error('there is no result')
  const column = toColumn(table.columns[name] ?? name)
  const { format = formatShort } = column
  const value = isSource(name) ? getSource(result, name) : getMetric(result, name)
  return typeof value === 'number'
    ? { value, text: format(value) }
    : { value: Number.NaN, text: formatCell(name, column, result, results) }
}

/** Returns the number of a mark, or its range. @throws Error if a machine with this table has no such number */
function formatMark(published: readonly PublishedTable[], where: string, rows: string, name: string): string {
  const found = published.filter(({ table }) => `${table.service}/${table.name}` === where)
  const names = rows.split(' / ')
  try {
    if (found.length === 0) throw new Error('there is no result')
    const numbers = found.map((one) => (names.length > 1 ? getRatio(one, names, name) : getNumber(one, rows, name)))
    const [first, ...more] = numbers.toSorted((a, b) => a.value - b.value).map(({ text }) => text)
    const last = more.at(-1)
    const middle = last === undefined || last === first ? first! : `${first} to ${last}`
    const bounds = numbers.flatMap(({ range = [] }) => range)
    return bounds.length === 0 ? middle : `${middle}${formatBounds(Math.min(...bounds), Math.max(...bounds), 2)}`
  } catch (error) {
    throw new Error(`${where}: ${rows} ${name}: ${(error as Error).message}`, { cause: error })
  }
}

/** Names the kinds of processors of all results. */
export function formatProcessors(published: readonly PublishedTable[]): string {
  const names = [...new Set(published.map(({ machine }) => machine.processor))]
  return names.length === 1
    ? `one kind of processor, ${names[0]}`
    : `${names.length} kinds of processors: ${names.join(' and ')}`
}

/** Names the kinds of processors, the commits and the days of all results: the caption of tables that combine them. */
export function formatOrigins(published: readonly PublishedTable[]): string {
  const listUnique = (get: (one: PublishedTable) => string) => [...new Set(published.map(get))].toSorted()
  const commits = listUnique(({ machine }) => machine.commit)
  const days = listUnique(({ machine }) => machine.date.slice(0, 10))
  const period = days.length > 1 ? `${days[0]} to ${days.at(-1)}` : days[0]
  return `${formatProcessors(published)}, commit${commits.length > 1 ? 's' : ''} ${commits.join(', ')}, ${period}`
}

/** Replaces the marked parts of a text with those of the results. @throws Error if a mark names no result */
export function withProse(text: string, published: readonly PublishedTable[]): string {
  const processors = formatProcessors(published)
  return text
    .replaceAll(MARK_PATTERN, (mark, where: string, rows: string, name: string) => {
      return `${mark.slice(0, mark.indexOf('-->') + 3)}${formatMark(published, where, rows, name)}<!--/-->`
    })
    .replaceAll(PROCESSORS_MARK_PATTERN, `$1${processors}$2`)
}
