import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { machineText } from '../machine.ts'
import type { Table } from '../tables/table.ts'
import { behindSource } from './behind-source.ts'
import { BEHIND_SOURCE, conclusions, reasonsOf } from './conclusions.ts'
import { reportHtml } from './html.ts'
import { withProse } from './prose.ts'
import { readResults, writeResults, type Published } from './results.ts'
import { markdownOf, tablesOf } from './table.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Puts text between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`. @returns the file's new text */
export function replaceSection(text: string, name: string, section: string): string {
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`there is no section ${begin}`)
  return `${text.slice(0, from + begin.length)}\n${section}\n${text.slice(to)}`
}

/** A table as a README has it, with the machine, the commit and the day below. */
export const sectionOf = ({ table, machine, results }: Published): string =>
  [`${table.title}.`, ...tablesOf(results, table).map(markdownOf), `${machineText(machine)}.`].join('\n\n')

/** The conclusions, the figures that are better in a source, and the reasons. */
const conclusionsOf = (published: readonly Published[]): string => {
  const behind = behindSource(published)
  const sources = behind.length > 1 ? [BEHIND_SOURCE, markdownOf(behind)] : []
  const reasons = reasonsOf(published).map(([titles, reason]) => `- ${titles}: ${reason}`)
  return [markdownOf(conclusions(published)), ...sources, reasons.join('\n')].filter((text) => text !== '').join('\n\n')
}

/** All that is written from results: the report, and the tables and figures that READMEs show. Texts by their paths. */
export function texts(published: readonly Published[]): Map<string, string> {
  const written = new Map([['bench/report.html', reportHtml(published)]])
  for (const file of globSync(['README.md', '*/README.md', 'packages/*/README.md'], { cwd: ROOT })) {
    let text = readFileSync(join(ROOT, file), 'utf8')
    if (text.includes('<!-- bench:conclusions -->'))
      text = replaceSection(text, 'conclusions', conclusionsOf(published))
    for (const one of published) {
      const name = `${one.table.service}/${one.table.name}`
      if (text.includes(`<!-- bench:${name} -->`)) text = replaceSection(text, name, sectionOf(one))
    }
    written.set(file, withProse(text, published))
  }
  return written
}

/** Writes the result files and all that is written from them, those of earlier runs included: the one place that does. */
export function publish(measured: Published, tables: readonly Table[]): void {
  writeResults(measured)
  for (const [file, text] of texts(readResults(tables))) writeFileSync(join(ROOT, file), text)
}

/** The files that are not as the results would have them. */
export const stale = (tables: readonly Table[]): string[] =>
  [...texts(readResults(tables))]
    .filter(([file, text]) => readFileSync(join(ROOT, file), 'utf8') !== text)
    .map(([file]) => file)
