import { formatBounds, formatFactor } from '../format-numbers.ts'
import type { GuardRun } from '../guard-history.ts'
import type { Cells } from '../table-cells.ts'
import { escape } from '../svg.ts'
import { renderDetails, renderTable } from './html-tables.ts'

/** Runs that the table shows, so that it fits on a page. */
const MAX_RUNS = 5

type Ratio = GuardRun['rows'][string]

const formatRatio = ([median, low, high]: Ratio): string => `${formatFactor(median, 3)}${formatBounds(low, high, 3)}`

/** Formats the machine of a run, its commit, that of the base, and the day. A hash has 12 digits. */
function formatRun({ machine: { processor, commit, date }, base }: GuardRun): string {
  const shortBase = /^[0-9a-f]{40}$/.test(base) ? base.slice(0, 12) : base
  return `${processor}, ${commit} against ${shortBase}, ${date.slice(0, 10)}`
}

/** Builds the table of the last published runs of the guard: a line for each row, a column for each run, the newest first. */
export function buildGuardTable(runs: readonly GuardRun[]): Cells {
  const shown = runs.slice(-MAX_RUNS).toReversed()
  const names = [...new Set(shown.flatMap(({ rows }) => Object.keys(rows)))]
  const lines = names.map((name) => [
    name,
    ...shown.map(({ rows: { [name]: ratio } }) => (ratio ? formatRatio(ratio) : '')),
  ])
  return [['row', ...shown.map(formatRun)], ...lines]
}

/** Names the rows of a run whose interval lies above 1, and those whose interval lies below it. */
function summarize(run: GuardRun): string {
  const list = (isListed: (ratio: Ratio) => boolean) => {
    const found = Object.entries(run.rows).flatMap(([name, ratio]) =>
      isListed(ratio) ? [`${name} ${formatRatio(ratio)}`] : [],
    )
    return found.length > 0 ? found.join(', ') : 'no row'
  }
  const [more, less] = [list(([, low]) => low > 1), list(([, , high]) => high < 1)]
  return `The last run, ${formatRun(run)}, has ${Object.keys(run.rows).length} rows. Interval above 1: ${more}. Interval below 1: ${less}.`
}

/** Renders the section about the costs of commits over time. */
export function renderOverTime(runs: readonly GuardRun[]): string {
  const text =
    'The guard compares the costs of a commit with those of a base commit. A value below 1 means that the commit costs less.'
  const last = runs.at(-1)
  const content = last
    ? renderDetails(
        'costs of commits',
        `<p>${text} ${escape(summarize(last))}</p>${renderTable(buildGuardTable(runs))}`,
      )
    : `<p class="soft">${text} No run is published yet: <code>pnpm bench guard --publish</code> adds one.</p>`
  return `<h2 id="over-time">Over time</h2>
${content}`
}
