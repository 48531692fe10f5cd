import type { Machine } from '../machine.ts'
import { BELOW_MEASURABLE, getNumbers } from './columns.ts'
import { formatTenth, formatWhole } from './format-numbers.ts'
import { getTableName, type PublishedTable } from './results.ts'
import type { RowResult } from '../row.ts'
import { computeMedian } from '../statistics.ts'
import { sources } from '../sources/all.ts'
import type { OwnRow, Source, SourceFigure, SourceGroup, SourceRow } from '../sources/source-figures.ts'

/** Result of a figure for our service. `unclear`: some rounds of ours are better, others are not. */
type FigureOutcome = 'ahead' | 'behind' | 'equal' | 'unclear' | 'not judged'

/** A figure of a row: both values as text. */
export interface FigureComparison {
  readonly head: string
  readonly theirs: string
  /** Median of our rounds; absent without a measurement. */
  readonly ours: string | undefined
  readonly outcome: FigureOutcome
}

/** A row of a source next to our counterpart. */
export interface SourceRowComparison {
  readonly name: string
  /** Name of our row, with its table; undefined without a measurement. */
  readonly ownTitle: string | undefined
  /** Reason if there is no measurement. */
  readonly notMeasured: string | undefined
  readonly figures: readonly FigureComparison[]
  /** Values without a counterpart, as text. */
  readonly onlyTheirs: string
  /** Differences of the two loads, in addition to those of the group; empty if there are none. */
  readonly load: string
}

/** The rows of a group, next to the results of one machine. */
export interface SourceGroupComparison {
  readonly source: Source
  readonly group: SourceGroup
  /** Absent if our table has no results. */
  readonly machine: Machine | undefined
  /** Both loads. */
  readonly load: string
  readonly rows: readonly SourceRowComparison[]
}

/** Duration of a round in results that do not state it (s): the default of the command. */
const DEFAULT_ROUND_S = 1.5

function formatValue(value: number): string {
  if (value < 0) return BELOW_MEASURABLE
  if (Number.isInteger(value) || value >= 100) return formatWhole(value)
  return value < 10 ? value.toPrecision(2) : formatTenth(value)
}

const formatText = (value: number | string): string => (typeof value === 'number' ? formatValue(value) : value)

/** Returns the value of each round: the sum of the metrics of all rows. It is empty if one of them is missing. */
function listOwnValues(results: readonly RowResult[], { metrics = [], scale = 1 }: SourceFigure): number[] {
  const parts = results.flatMap((result) => metrics.map((metric) => getNumbers(result, metric)))
  const length = Math.min(...parts.map((numbers) => numbers.length))
  if (parts.length === 0 || length === 0) return []
  return Array.from({ length }, (_, round) => scale * parts.reduce((sum, numbers) => sum + numbers[round]!, 0))
}

/** True if both values are the same in three digits, the precision of the sources. */
const isSame = (value: number, other: number): boolean => value.toPrecision(3) === other.toPrecision(3)

function toOutcome(
  values: readonly number[],
  theirs: number | string,
  { better, isOursEasier }: SourceFigure,
): FigureOutcome {
  if (typeof theirs !== 'number' || better === 'neither' || values.length === 0) return 'not judged'
  const isBetter = (value: number) => (better === 'more' ? value > theirs : value < theirs)
  if (values.every((value) => isSame(value, theirs))) return 'equal'
  const median = computeMedian(values)
  if (!isSame(median, theirs) && !isBetter(median)) return 'behind'
  if (isOursEasier) return 'not judged'
  return values.every(isBetter) ? 'ahead' : 'unclear'
}

const isMeasurable = (own: OwnRow): own is readonly string[] => !('notMeasured' in own)

/** Returns our results for a row, or the reason for none. */
function findOwnResults(own: OwnRow, published: PublishedTable | undefined): readonly RowResult[] | string {
  if (!isMeasurable(own)) return own.notMeasured
  const results = own.map((name) => published?.results.find((row) => row.name === name && row.failure === undefined))
  return results.every((result) => result !== undefined)
    ? (results as RowResult[])
    : 'our row has no published result yet'
}

/** Describes both loads of a group. `{rounds}` and `{starts}` in it are those of the first of our rows. */
function formatLoad({ load, rows }: SourceGroup, published: PublishedTable | undefined): string {
  const names = new Set(rows.flatMap(({ own }) => (isMeasurable(own) ? own : [])))
  const first = published?.results.find(({ name }) => names.has(name))
  if (first === undefined) return `Their load: ${load.theirs}. Ours: not measured`
  const count = first.rounds.length
  const rounds = `${count} round${count === 1 ? '' : 's'} of ${first.roundSeconds ?? DEFAULT_ROUND_S} s`
  const ours = load.ours.replace('{rounds}', rounds).replace('{starts}', `${count} start${count === 1 ? '' : 's'}`)
  return `Their load: ${load.theirs}. Our load: ${ours}`
}

function compareRow(group: SourceGroup, row: SourceRow, published: PublishedTable | undefined): SourceRowComparison {
  const results = findOwnResults(row.own, published)
  const isMeasured = typeof results !== 'string'
  const figures = Object.entries(group.figures).flatMap(([name, figure]): FigureComparison[] => {
    const theirs = row.values[name]
    if (theirs === undefined || figure.metrics === undefined) return []
    const values = isMeasured ? listOwnValues(results, figure) : []
    const ours = values.length > 0 ? formatValue(computeMedian(values)) : undefined
    return [{ head: figure.head, theirs: formatText(theirs), ours, outcome: toOutcome(values, theirs, figure) }]
  })
  const onlyTheirs = Object.entries(group.figures).flatMap(([name, { head, metrics }]) =>
    metrics === undefined && row.values[name] !== undefined ? [`${head} ${formatText(row.values[name])}`] : [],
  )
  return {
    name: row.name,
    ownTitle: isMeasured && isMeasurable(row.own) ? `${group.table}: ${row.own.join(' + ')}` : undefined,
    notMeasured: isMeasured ? undefined : results,
    figures,
    onlyTheirs: onlyTheirs.join(', '),
    load: row.load ?? '',
  }
}

/** Compares all rows of all sources with the published results: once for each processor model of our table. */
export const compareSources = (
  published: readonly PublishedTable[],
  compared: readonly Source[] = sources,
): SourceGroupComparison[] =>
  compared.flatMap((source) =>
    source.groups.flatMap((group) => {
      const found = published.filter((one) => getTableName(one) === group.table)
      const ofMachines = found.length > 0 ? found : [undefined]
      return ofMachines.map((one) => ({
        source,
        group,
        machine: one?.machine,
        load: formatLoad(group, one),
        rows: group.rows.map((row) => compareRow(group, row, one)),
      }))
    }),
  )

/** True if a figure of a row has this outcome. */
export const hasOutcome = ({ figures }: SourceRowComparison, outcome: FigureOutcome): boolean =>
  figures.some((figure) => figure.outcome === outcome)

/** Lists the heads of the figures in which the source is better. */
export const listFiguresBehind = ({ figures }: SourceRowComparison): string[] =>
  figures.filter(({ outcome }) => outcome === 'behind').map(({ head }) => head)

/** Describes the result of a row in a few words. */
export function formatOutcome(row: SourceRowComparison): string {
  if (row.notMeasured !== undefined) return `not measured: ${row.notMeasured}`
  const has = (outcome: FigureOutcome) => hasOutcome(row, outcome)
  if (has('behind')) return `${has('ahead') ? 'ahead, but ' : ''}behind: ${listFiguresBehind(row).join(', ')}`
  if (has('unclear')) return has('ahead') ? 'ahead or equal' : 'equal within the rounds'
  return has('ahead') ? 'ahead' : has('equal') ? 'equal' : 'not judged'
}
