import { planSteps } from '../measure.ts'
import { RemainingTime, type RunStep } from '../remaining-time.ts'
import type { BenchRow, RowResult } from '../row.ts'
import { getMaxRounds, hasPairs, listSteps, toRowTitle, type BenchTable, type Steps } from '../table.ts'
import { canLoadInTurn } from '../rounds/paired-round.ts'
import { isInstalled } from '../targets/program.ts'

/** Tables that are measured together. A row that several of them contain is measured once. */
export interface TableGroup {
  readonly tables: readonly BenchTable[]
  /** The rows, by the titles under which they are measured. */
  readonly rows: readonly BenchRow[]
  /** Titles of the rows that get the same pace. */
  readonly steps: Steps
  /** Titles of the rows that are loaded in turn. */
  readonly comparisons: Steps
  readonly together: boolean
  /** Returns the results of one of the tables, with its names and values of the source. */
  resultsOf(table: BenchTable, results: readonly RowResult[]): RowResult[]
}

/** Returns the pairs of rows of a table that get the same pace: those of its steps, or all that differ in size only. */
function listPacePairs(table: BenchTable, names: readonly string[]): Steps {
  const { against, paceClass = () => '' } = table
  if (against !== undefined) {
    const getSeries = (name: string) => name.replace(/, [^ ]+$/, '')
    return names.slice(1).flatMap((name, i) => (getSeries(name) === getSeries(names[i]!) ? [[name, names[i]!]] : []))
  }
  return listSteps(table, names).filter(([of, other]) => paceClass(of) === paceClass(other))
}

/** Returns the comparisons with rows of a table by their names. @param titlesOf titles of the rows, by name */
function toRowNames<T>(byTitle: Readonly<Record<string, T>>, titlesOf: ReadonlyMap<string, string>): Record<string, T> {
  return Object.fromEntries(
    [...titlesOf].flatMap(([name, title]) => (byTitle[title] === undefined ? [] : [[name, byTitle[title]]])),
  )
}

/** Creates the group of tables whose rows are given. */
function createGroup(
  planned: readonly { readonly table: BenchTable; readonly rows: readonly BenchRow[] }[],
): TableGroup {
  const titles = new Map<string, string>()
  const unique = new Map<string, BenchRow>()
  const findTitle = (table: BenchTable, row: BenchRow): string => {
    const own = toRowTitle(table, row.name)
    return titles.get(row.sharedAs ?? own) ?? own
  }
  for (const { table, rows } of planned) {
    for (const row of rows) {
      const title = findTitle(table, row)
      titles.set(row.sharedAs ?? title, title)
      const maxRounds = Math.max(
        Math.min(row.maxRounds ?? Infinity, getMaxRounds(table)),
        unique.get(title)?.maxRounds ?? 0,
      )
      unique.set(title, { ...row, name: title, maxRounds })
    }
  }
  const toTitles = (table: BenchTable, rows: readonly BenchRow[]) =>
    new Map(rows.map((row) => [row.name, findTitle(table, row)]))
  const rowsOf = new Map(planned.map(({ table, rows }) => [table, rows]))
  /** Returns the titles of the pairs of rows that a table selects by their names, each pair once. */
  function listTitlePairs(select: (table: BenchTable, names: readonly string[]) => Steps): Steps {
    const pairs = planned.flatMap(({ table, rows }) => {
      const titlesOf = toTitles(table, rows)
      return select(table, [...titlesOf.keys()]).flatMap(([of, against]): [string, string][] => {
        const [own, other] = [titlesOf.get(of), titlesOf.get(against)]
        return own === undefined || other === undefined ? [] : [[own, other]]
      })
    })
    return [...new Map(pairs.map((pair) => [pair.join(' / '), pair])).values()]
  }
  return {
    tables: planned.map(({ table }) => table),
    rows: [...unique.values()],
    steps: listTitlePairs(listPacePairs),
    comparisons: listTitlePairs((table, names) => (hasPairs(table) ? listSteps(table, names) : [])).filter(
      ([of, against]) => canLoadInTurn([unique.get(of)!, unique.get(against)!]),
    ),
    together: planned.some(({ table }) => table.together),
    resultsOf(table, results) {
      const titlesOf = toTitles(table, rowsOf.get(table)!)
      return rowsOf.get(table)!.map((row) => {
        const result = results.find(({ name }) => name === titlesOf.get(row.name))!
        const { comparisons } = result
        return {
          ...result,
          name: row.name,
          source: row.source,
          comparisons: comparisons && toRowNames(comparisons, titlesOf),
        }
      })
    },
  }
}

/**
 * Plans the measurement of tables: those with the same `group` are measured together.
 * @param rowsOf returns the rows of a table; those whose programs are not installed are omitted
 */
export function planGroups(
  tables: readonly BenchTable[],
  rowsOf: (table: BenchTable) => readonly BenchRow[],
): TableGroup[] {
  const planned = tables.map((table) => ({
    table,
    rows: rowsOf(table).filter(({ target }) => isInstalled(target)),
  }))
  const groups = Map.groupBy(planned, ({ table: { service, group, name } }) => `${service}/${group ?? name}`)
  return [...groups.values()].map(createGroup).filter(({ rows }) => rows.length > 0)
}

/** Assumed mean duration of a step (s), until steps were measured or published. */
const DEFAULT_STEP_S = 8

/** Returns the steps of a group. */
export const planGroupSteps = ({ rows, comparisons }: TableGroup, rounds: number): RunStep[] =>
  planSteps(rows, { rounds, comparisons })

/** Estimates the duration of a group (s). @param published durations as in `RemainingTime` */
export function estimateGroup(group: TableGroup, rounds: number, published: ReadonlyMap<string, number>): number {
  const steps = planGroupSteps(group, rounds)
  return new RemainingTime(steps, published).getSeconds() ?? steps.length * DEFAULT_STEP_S
}
