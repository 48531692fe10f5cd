import { formatBounds, formatFactor } from '../format-numbers.ts'
import type { GuardRun } from '../guard-history.ts'
import type { Cells } from '../table-cells.ts'
import { renderTable } from './html-tables.ts'

/** Builds the table of published runs of the guard: one line for each, the newest first. */
export function buildGuardTable(runs: readonly GuardRun[]): Cells {
  const names = [...new Set(runs.flatMap(({ rows }) => Object.keys(rows)))]
  const lines = runs.toReversed().map(({ machine, base, rows }) => [
    machine.date.slice(0, 10),
    machine.commit,
    base,
    machine.processor,
    ...names.map((name) => {
      const ratio = rows[name]
      return ratio ? `${formatFactor(ratio[0], 3)}${formatBounds(ratio[1], ratio[2], 3)}` : ''
    }),
  ])
  return [['day', 'commit', 'base', 'processor', ...names], ...lines]
}

/** Renders the section about the costs of commits over time. */
export function renderOverTime(runs: readonly GuardRun[]): string {
  const text =
    'The guard compares the costs of a commit with those of a base commit. A value below 1 means that the commit costs less.'
  return `<h2 id="over-time">Over time</h2>
<p class="soft">${text}${runs.length === 0 ? ' No run is published yet: <code>pnpm bench guard --publish</code> adds one.' : ''}</p>
${runs.length === 0 ? '' : renderTable(buildGuardTable(runs))}`
}
