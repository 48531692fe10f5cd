import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Machine } from '../machine.ts'
import type { AnyScenario } from '../scenarios/scenario.ts'
import { measuredOf } from './measured.ts'
import type { Measured, Published } from './published.ts'

const RESULTS = fileURLToPath(new URL('../../results/', import.meta.url))

/** `<service>/<row>/<scenario>.json`: one row of one scenario, with all that is needed to tell how it came about. */
type ResultFile = Measured['results'][number] & {
  readonly title: string
  /** Its place in the scenario's table. */
  readonly place: number
  readonly machine: Machine
}

const folderName = (name: string) => name.replaceAll(/[^A-Za-z0-9.-]+/g, '-').replaceAll(/^-+|-+$/g, '')
const filesOf = ({ service, name }: Pick<AnyScenario, 'service' | 'name'>, folder: string) =>
  globSync(`${service}/*/${name}.json`, { cwd: folder }).map((file) => join(folder, file))

/** Writes a scenario's rows, in place of those it had. */
export function writeResults(
  { scenario, machine, results }: Pick<Published, 'scenario' | 'machine' | 'results'>,
  folder = RESULTS,
): void {
  for (const file of filesOf(scenario, folder)) rmSync(file)
  for (const [place, result] of results.entries()) {
    const file = join(folder, scenario.service, folderName(result.name), `${scenario.name}.json`)
    const content: ResultFile = { title: scenario.title, place, machine, ...result }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`)
  }
}

/** What was written of the given scenarios, whenever that was. */
export function readResults(scenarios: readonly AnyScenario[], folder = RESULTS): Published[] {
  if (!existsSync(folder)) return []
  return scenarios.flatMap((scenario) => {
    const rows = filesOf(scenario, folder).map((file): ResultFile => JSON.parse(readFileSync(file, 'utf8')))
    const results = rows.toSorted((a, b) => a.place - b.place)
    return results[0] ? [{ scenario, machine: results[0].machine, ...measuredOf(scenario, results) }] : []
  })
}
