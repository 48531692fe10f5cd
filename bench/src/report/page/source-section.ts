import { compareSources } from '../compare-sources.ts'
import type { PublishedTable } from '../results.ts'
import {
  buildSourceTable,
  countOutcomes,
  describeGroup,
  describeSource,
  formatCounts,
  groupBySource,
} from '../source-pages.ts'
import { escape } from '../svg.ts'
import { renderCell, renderDetails, renderTable } from './html-tables.ts'

/** Renders the section with all rows of the four sources. */
export function renderSources(published: readonly PublishedTable[]): string {
  const all = compareSources(published)
  const parts = groupBySource(all).map(([source, groups]) => {
    const tables = groups.map(
      (one) =>
        `<h4>${escape(one.group.title)}</h4>${renderTable(buildSourceTable(one, (text) => `**${text}**`))}<p class="machine">${renderCell(describeGroup(one))}</p>`,
    )
    const counts = countOutcomes(groups)
    const summary = `<b>${source.service}</b>: ${escape(source.title)} – ${counts.rows} rows, ours worse in some value of ${counts.behind}`
    return renderDetails(summary, `<p class="soft">${escape(describeSource(source))}</p>${tables.join('\n')}`)
  })
  return `<h2 id="sources">The four sources</h2>
<p class="soft">${escape(formatCounts(countOutcomes(all)))} A cell is theirs / ours, the median of all rounds; in colour: theirs is better. Machines, limits and loads differ, and each table states them.</p>
${parts.join('\n')}`
}
