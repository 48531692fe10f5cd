import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { computeMedianInterval, type MedianInterval } from '../statistics.ts'
import { appendGuardRun } from '../report/guard-history.ts'
import { assertQuietMachine, describeMachine } from '../machine.ts'
import { formatFactor } from '../report/format-numbers.ts'
import { OWN_CHECKOUT } from '../targets/service.ts'
import { checkOutBase, resolveBase } from './checkouts.ts'
import { drawDifference } from './draw-difference.ts'
import { guardRows, type GuardRow } from './guard-rows.ts'
import { measurePair } from './measure-pairs.ts'

/** Parses the arguments after `guard`. @throws Error naming the invalid argument */
export function parseGuardOptions(argv: readonly string[]) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      // A commit, or the folder of a checkout; by default the last release's tag, or the commit in `bench/guard-base`.
      base: { type: 'string' },
      // Names of rows; by default all, or those of the short form.
      rows: { type: 'string' },
      short: { type: 'boolean', default: false },
      // Folder of the flame graphs of rows that regressed; by default a new one among the temporary files.
      output: { type: 'string' },
      // Appends the run to the history that the report shows.
      publish: { type: 'boolean', default: false },
    },
  })
  const { base, rows, short, output, publish } = values
  return { base, rows: rows?.split(','), isShort: short, output, isPublished: publish }
}

type GuardOptions = ReturnType<typeof parseGuardOptions>

/** A row has regressed if its median ratio is above this, and if the interval of the median lies above 1. */
const MAX_RATIO = 1.04
/** A row whose median is at most this is accepted after `MIN_PAIRS`. */
const ACCEPTED_RATIO = 1.02
/** A row whose median is at most 1 is accepted after so many pairs. This shortens half of the rows of equal commits. */
const MIN_PAIRS_IF_CHEAPER = 4
/** Six pairs give an interval of 97 %. More are measured while the result is near the limit. */
const MIN_PAIRS = 6
const MAX_PAIRS = 14

export type GuardVerdict = 'same' | 'regressed' | 'undecided'

/** Judges ratios of pairs: costs of this commit as a multiple of the base's. */
export function judge(ratios: readonly number[]): MedianInterval & { readonly verdict: GuardVerdict } {
  const interval = computeMedianInterval(ratios)
  const { median, low } = interval
  const hasRegressed = low > 1 && median > MAX_RATIO
  if (ratios.length >= MAX_PAIRS) return { ...interval, verdict: hasRegressed ? 'regressed' : 'same' }
  if (ratios.length < MIN_PAIRS) {
    const isCheaper = ratios.length >= MIN_PAIRS_IF_CHEAPER && median <= 1
    return { ...interval, verdict: isCheaper ? 'same' : 'undecided' }
  }
  if (low > ACCEPTED_RATIO && hasRegressed) return { ...interval, verdict: 'regressed' }
  return { ...interval, verdict: median <= ACCEPTED_RATIO ? 'same' : 'undecided' }
}

/** Result of a series of pairs. */
interface SeriesResult extends MedianInterval {
  readonly verdict: GuardVerdict
  readonly pairs: number
}

/** Measures pairs until their verdict. */
async function measureSeries(measure: (pair: number) => Promise<number>): Promise<SeriesResult> {
  const ratios: number[] = []
  for (;;) {
    ratios.push(await measure(ratios.length))
    const result = judge(ratios)
    if (result.verdict !== 'undecided') return { pairs: ratios.length, ...result }
  }
}

/**
 * Measures a row. If it regressed, a second series of pairs must confirm this. Without it a run with six rows would be
 * wrong about once in ten times on a busy machine: one interval in 40 lies above 1 by chance.
 * @param measure measures a pair; returns the cost of this checkout as a multiple of the base's
 * @returns the last series
 */
export async function measureRow(measure: (pair: number) => Promise<number>): Promise<SeriesResult> {
  const first = await measureSeries(measure)
  return first.verdict === 'regressed' ? measureSeries(measure) : first
}

function formatResult(name: string, { median, low, high, pairs, verdict }: SeriesResult): string {
  const [middle, from, to] = [median, low, high].map((ratio) => formatFactor(ratio, 3))
  return `${name.padEnd(16)} ${middle} (${from} to ${to}, ${pairs} pairs)${verdict === 'regressed' ? '  REGRESSED' : ''}`
}

function selectRows({ rows, isShort }: GuardOptions): readonly GuardRow[] {
  if (rows === undefined) return guardRows.filter((row) => !isShort || row.isShort)
  return rows.map((name) => {
    const row = guardRows.find((one) => one.name === name)
    if (!row) throw new Error(`--rows: "${name}" is none of ${guardRows.map((one) => one.name).join(', ')}`)
    return row
  })
}

/**
 * Draws the difference of a row that regressed. A failure does not change the verdict.
 * @returns the path of the page, the totals, and the functions that grew; or the reason for none
 */
async function explain(row: GuardRow, checkouts: readonly string[], folder: string): Promise<string> {
  try {
    const [page, totals, ...grown] = await drawDifference(row, checkouts, join(folder, `${row.name}.html`))
    const lines = grown.length > 0 ? ['self time grew most in:', ...grown.map((line) => `  ${line}`)] : []
    return [`flame graph: ${page}`, totals, ...lines].map((line) => `  ${line}`).join('\n')
  } catch (error) {
    return `  no flame graph: ${(error as Error).message}`
  }
}

/**
 * Compares the costs of this checkout with those of a base commit, row by row.
 * @returns false if a row has regressed
 * @throws Error if the base cannot be installed, or if a row cannot be measured
 */
export async function runGuard(
  options: GuardOptions,
  print: (text: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const rows = selectRows(options)
  const ratios: Record<string, readonly [number, number, number]> = {}
  if (options.isPublished) await assertQuietMachine(print)
  const machine = describeMachine()
  const base = await resolveBase(options.base)
  await using checkout = await checkOutBase(base)
  print(
    `cost of this checkout as a multiple of ${base}'s (a row has regressed if it is above ${MAX_RATIO} and its interval above 1, in two series)`,
  )
  const regressed: GuardRow[] = []
  const checkouts = [OWN_CHECKOUT, checkout.folder]
  let folder = options.output === undefined ? undefined : resolve(options.output)
  for (const row of rows) {
    const result = await measureRow((pair) => {
      signal.throwIfAborted()
      return measurePair(row, checkouts, pair)
    })
    print(formatResult(row.name, result))
    ratios[row.name] = [result.median, result.low, result.high]
    if (result.verdict !== 'regressed') continue
    regressed.push(row)
    folder ??= mkdtempSync(join(tmpdir(), 'influencer-stats-guard-'))
    print(await explain(row, checkouts, folder))
  }
  if (options.isPublished) print(`published: ${appendGuardRun({ machine, base, rows: ratios })}`)
  if (regressed.length > 0) print(`regressed against ${base}: ${regressed.map(({ name }) => name).join(', ')}`)
  return regressed.length === 0
}
