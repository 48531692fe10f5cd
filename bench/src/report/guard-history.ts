import { appendFileSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Machine } from '../machine.ts'
import { RESULTS_FOLDER, toModelFolder } from './results.ts'

const FILE_NAME = 'guard.ndjson'

/** A published run of the guard. */
export interface GuardRun {
  readonly machine: Machine
  readonly base: string
  /** Cost of each row as a multiple of the base's: the median and its interval. */
  readonly rows: Readonly<Record<string, readonly [median: number, low: number, high: number]>>
}

/** Appends a run to the history of its processor model: one line. @returns the path of the file */
export function appendGuardRun(run: GuardRun, root = RESULTS_FOLDER): string {
  const file = join(root, toModelFolder(run.machine), FILE_NAME)
  mkdirSync(dirname(file), { recursive: true })
  appendFileSync(file, `${JSON.stringify(run)}\n`)
  return file
}

/** Reads the published runs of all processor models, the oldest first. */
export const readGuardRuns = (root = RESULTS_FOLDER): GuardRun[] =>
  globSync(`*/${FILE_NAME}`, { cwd: root })
    .flatMap((file) => readFileSync(join(root, file), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line): GuardRun => JSON.parse(line))
    .toSorted((a, b) => (a.machine.date < b.machine.date ? -1 : 1))
