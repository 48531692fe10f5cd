import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatMachine } from '../machine.ts'
import { buildSourcesPage } from './source-pages.ts'
import type { BenchTable } from '../table.ts'
import { listConclusions, listRowsBehind } from './conclusions.ts'
import { readGuardRuns } from './guard-history.ts'
import { renderReport } from './html.ts'
import { formatOrigins, withProse } from './prose.ts'
import { getTableName, readResults, writeResults, type PublishedTable } from './results.ts'
import { toMarkdown, buildTables } from './table-cells.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Replaces the text between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`. @returns the file's new text */
export function replaceSection(text: string, name: string, section: string): string {
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`there is no section ${begin}`)
  return `${text.slice(0, from + begin.length)}\n${section}\n${text.slice(to)}`
}

/** Builds the tables of a README: one for each processor model, with the machine, the commit and the day below it. */
export const buildSection = (published: readonly PublishedTable[]): string =>
  [
    `${published[0]!.table.title}.`,
    ...published.flatMap(({ table, machine, results }) => [
      ...buildTables(results, table).map(toMarkdown),
      `${formatMachine(machine)}.`,
    ]),
  ].join('\n\n')

/** Builds the text with the rows in which another program is ahead, and with the other comparisons. */
const buildConclusions = (published: readonly PublishedTable[]): string =>
  `${toMarkdown(listRowsBehind(published))}

Measured on ${formatOrigins(published)}.

<details><summary>Rows in which no peer is ahead</summary>

${toMarkdown(listConclusions(published))}

</details>`

/** Builds all texts with results, by path: the report, and the READMEs with their tables and numbers. */
export function buildTexts(published: readonly PublishedTable[]): Map<string, string> {
  const written = new Map([['bench/report.html', renderReport(published, readGuardRuns())]])
  for (const file of globSync(['README.md', '*/README.md', 'packages/*/README.md', 'docs/*.md'], { cwd: ROOT })) {
    let text = readFileSync(join(ROOT, file), 'utf8')
    if (text.includes('<!-- bench:conclusions -->'))
      text = replaceSection(text, 'conclusions', buildConclusions(published))
    if (text.includes('<!-- bench:sources -->')) text = replaceSection(text, 'sources', buildSourcesPage(published))
    for (const [name, all] of Map.groupBy(published, getTableName))
      if (text.includes(`<!-- bench:${name} -->`)) text = replaceSection(text, name, buildSection(all))
    written.set(file, withProse(text, published))
  }
  return written
}

/**
 * Writes the result files of a table, and then all texts with results, also those of earlier runs. No other function of
 * bench writes these files.
 */
export function publish(measured: PublishedTable, tables: readonly BenchTable[]): void {
  writeResults(measured)
  writeTexts(tables)
}

/** Writes all texts with results. */
export function writeTexts(tables: readonly BenchTable[]): void {
  for (const [file, text] of buildTexts(readResults(tables))) writeFileSync(join(ROOT, file), text)
}

/** Lists the files whose text does not agree with the results. */
export const listStaleFiles = (tables: readonly BenchTable[]): string[] =>
  [...buildTexts(readResults(tables))]
    .filter(([file, text]) => readFileSync(join(ROOT, file), 'utf8') !== text)
    .map(([file]) => file)
