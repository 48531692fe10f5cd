import { computeRatio } from '../ratios.ts'
import { formatCell, toColumn, getMetric, isSource, getSource } from './columns.ts'
import { formatShort } from './format-numbers.ts'
import type { PublishedTable } from './results.ts'

/**
 * A number in a text, with a mark that names its table, row and metric: `<!--= stats/server-adapters: v8 perSecond
 * -->47,316<!--/-->`. With two rows it is the ratio of their metrics: `<!--= kv/entity: GET / bare GET cpu
 * -->1.46<!--/-->`.
 */
const MARK_PATTERN = /<!--= ([a-z]+\/[a-z-]+): (.+?) ([A-Za-z0-9]+|source: [A-Za-z0-9]+) -->[^<]*<!--\/-->/g

/** Returns the number of a mark. @throws Error if there is no result */
function formatMark(published: readonly PublishedTable[], where: string, rows: string, name: string): string {
  const found = published.find(({ table }) => `${table.service}/${table.name}` === where)
  const [of, against] = rows.split(' / ').map((row) => found?.results.find((result) => result.name === row))
  if (!found || !of) throw new Error(`there is no result ${where}: ${rows}`)
  if (rows.includes(' / ')) {
    if (!against || getMetric(of, name) === undefined) throw new Error(`there is no ratio ${where}: ${rows} ${name}`)
    const { median, limited } = computeRatio(of, against, name)
    if (limited) throw new Error(`${where}: ${rows} ${name}: the generator was the limit`)
    return median.toFixed(2)
  }
  const plain = toColumn(found.table.columns[name] ?? name)
  const { format = formatShort } = plain
  const value = isSource(name) ? getSource(of, name) : getMetric(of, name)
  return typeof value === 'number' ? format(value) : formatCell(name, plain, of, found.results)
}

/** Replaces the marked numbers of a text with those of the results. @throws Error if a mark names no result */
export const withProse = (text: string, published: readonly PublishedTable[]): string =>
  text.replaceAll(MARK_PATTERN, (mark, where: string, rows: string, name: string) => {
    return `${mark.slice(0, mark.indexOf('-->') + 3)}${formatMark(published, where, rows, name)}<!--/-->`
  })
