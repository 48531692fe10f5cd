import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reportHtml } from './html.ts'
import type { Published } from './published.ts'
import { markdownOf } from './table.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const fileName = (name: string) => name.replaceAll(/[^A-Za-z0-9.-]+/g, '-').replaceAll(/^-+|-+$/g, '')

/** Puts text between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`. @returns the file's new text */
export function replaceSection(text: string, name: string, section: string): string {
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`there is no section ${begin}`)
  return `${text.slice(0, from + begin.length)}\n${section}\n${text.slice(to)}`
}

function sectionOf({ scenario, machine, table }: Published): string {
  const where = `${machine.processor}, ${machine.processors} processors, Node ${machine.node}, load ${machine.load}, ${machine.date.slice(0, 10)}.`
  return `${scenario.title}.\n\n${markdownOf(table)}\n\n${where}`
}

/** Writes the result files, the report and the READMEs' tables: the one place that writes any of them. */
export async function publish(published: readonly Published[]): Promise<void> {
  for (const { scenario, machine, results } of published) {
    for (const result of results) {
      const file = join(ROOT, 'bench/results', scenario.service, fileName(result.name), `${scenario.name}.json`)
      write(
        file,
        `${JSON.stringify({ scenario: scenario.name, title: scenario.title, machine, ...result }, undefined, 2)}\n`,
      )
    }
  }
  write(join(ROOT, 'bench/report.html'), reportHtml(published))
  for (const one of published) {
    for (const readme of ['README.md', `packages/${one.scenario.service}/README.md`]) {
      const file = join(ROOT, readme)
      const text = readFileSync(file, 'utf8')
      const name = `${one.scenario.service}/${one.scenario.name}`
      if (text.includes(`<!-- bench:${name} -->`)) write(file, replaceSection(text, name, sectionOf(one)))
    }
  }
}
