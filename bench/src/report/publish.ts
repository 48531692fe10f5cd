import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnyScenario } from '../scenarios/scenario.ts'
import { reportHtml } from './html.ts'
import type { Published } from './published.ts'
import { readResults, writeResults } from './results.ts'
import { markdownOf } from './table.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Puts text between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`. @returns the file's new text */
export function replaceSection(text: string, name: string, section: string): string {
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`there is no section ${begin}`)
  return `${text.slice(0, from + begin.length)}\n${section}\n${text.slice(to)}`
}

function sectionOf({ scenario, machine, tables }: Published): string {
  const where = `${machine.processor}, ${machine.processors} processors, Node ${machine.node}, load ${machine.load}, ${machine.date.slice(0, 10)}.`
  return [`${scenario.title}.`, ...tables.map(markdownOf), where].join('\n\n')
}

/** Writes the result files, the report and the READMEs' tables: the one place that writes any of them. */
export function publish(published: readonly Published[], scenarios: readonly AnyScenario[]): void {
  for (const one of published) writeResults(one)
  // The report shows all services, also those that this run did not measure.
  writeFileSync(join(ROOT, 'bench/report.html'), reportHtml(readResults(scenarios)))
  for (const one of published) {
    for (const readme of ['README.md', `packages/${one.scenario.service}/README.md`]) {
      const file = join(ROOT, readme)
      const text = readFileSync(file, 'utf8')
      const name = `${one.scenario.service}/${one.scenario.name}`
      if (text.includes(`<!-- bench:${name} -->`)) writeFileSync(file, replaceSection(text, name, sectionOf(one)))
    }
  }
}
