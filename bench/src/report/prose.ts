import { ratioOf } from '../ratios.ts'
import { cellOf, columnOf, figureOf, isSource, sourceOf } from './columns.ts'
import { short } from './numbers.ts'
import type { Published } from './results.ts'

/** `<!--= stats/door: v8 perSecond -->47,316<!--/-->`, or of two rows: `<!--= kv/entity: GET / bare GET cpu -->1.46<!--/-->`. */
const MARK = /<!--= ([a-z]+\/[a-z-]+): (.+?) ([A-Za-z0-9]+|source: [A-Za-z0-9]+) -->[^<]*<!--\/-->/g

/** The figure that a mark names. @throws Error when there is none */
function told(published: readonly Published[], where: string, rows: string, name: string): string {
  const found = published.find(({ table }) => `${table.service}/${table.name}` === where)
  const [of, against] = rows.split(' / ').map((row) => found?.results.find((result) => result.name === row))
  if (!found || !of) throw new Error(`there is no result ${where}: ${rows}`)
  if (rows.includes(' / ')) {
    if (!against || figureOf(of, name) === undefined) throw new Error(`there is no ratio ${where}: ${rows} ${name}`)
    const { median, limited } = ratioOf(of, against, name)
    if (limited) throw new Error(`${where}: ${rows} ${name}: the generator was the limit`)
    return median.toFixed(2)
  }
  const plain = columnOf(found.table.columns[name] ?? name)
  const { format = short } = plain
  const value = isSource(name) ? sourceOf(of, name) : figureOf(of, name)
  return typeof value === 'number' ? format(value) : cellOf(name, plain, of, found.results)
}

/** A text whose marked numbers are those of the results. @throws Error where a mark names none */
export const withProse = (text: string, published: readonly Published[]): string =>
  text.replaceAll(MARK, (mark, where: string, rows: string, name: string) => {
    return `${mark.slice(0, mark.indexOf('-->') + 3)}${told(published, where, rows, name)}<!--/-->`
  })
