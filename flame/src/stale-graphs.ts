import { hasSameCode } from '@influencer-stats/bench/machine'
import { getTableName, readResults } from '@influencer-stats/bench/report/results'
import { tables } from '@influencer-stats/bench/tables/all'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getFolder, getTable, type FlameSubject } from './arguments.ts'
import type { HotReport } from './hot-report.ts'
import { FLAME_FOLDER } from './paths.ts'

/** Commits of the published tables, as `service/table`. Of several machines, the newest counts. */
export function readTableCommits(): Map<string, string> {
  const published = readResults(tables).toSorted((a, b) => (a.machine.date < b.machine.date ? -1 : 1))
  return new Map(published.map((one) => [getTableName(one), one.machine.commit]))
}

/** Returns the recorded report of a subject; undefined if there is none. */
export function readReport(subject: FlameSubject): HotReport | undefined {
  try {
    return JSON.parse(readFileSync(join(FLAME_FOLDER, getFolder(subject), 'hot.json'), 'utf8'))
  } catch {
    return undefined
  }
}

/** Reads the recordings of a service, in the order of its variants. */
export function readReports(service: string): HotReport[] {
  const files = globSync(`${service}/*/*/hot.json`, { cwd: FLAME_FOLDER }).toSorted()
  return files.map((file) => JSON.parse(readFileSync(join(FLAME_FOLDER, file), 'utf8')))
}

/**
 * Describes the difference between the code of a graph and that of the table that it explains; undefined if there is
 * none.
 */
export function describeStaleness(
  hot: Pick<HotReport, keyof FlameSubject> & { readonly machine: { readonly commit: string } },
  commits: ReadonlyMap<string, string>,
): string | undefined {
  const table = getTable(hot)
  const commit = table && commits.get(table)
  if (!commit || hasSameCode(hot.service, hot.machine.commit, commit)) return undefined
  return `table ${table} is of commit ${commit}`
}

/** Lists the graphs that are of other code than their tables, one line each. */
export function listStaleGraphs(services: readonly string[]): string[] {
  const commits = readTableCommits()
  return services.flatMap(readReports).flatMap((hot) => {
    const reason = describeStaleness(hot, commits)
    return reason === undefined ? [] : [`flame/${getFolder(hot)} is of commit ${hot.machine.commit}, but ${reason}`]
  })
}
