import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatMachine } from '../machine.ts'
import { listConclusions, listRowsBehind } from './conclusions.ts'
import { omitSources } from './columns.ts'
import type { GuardRun } from './guard-history.ts'
import { renderFirstScreen } from './page/first-screen.ts'
import { renderDetails, renderTable } from './page/html-tables.ts'
import { renderOverTime } from './page/over-time.ts'
import { renderSources } from './page/source-section.ts'
import { STYLE } from './page/style.ts'
import { createPlots } from './plots.ts'
import { getTableName, type PublishedTable } from './results.ts'
import { escape } from './svg.ts'
import { buildTables, getLongestWord, PAGE_WIDTH, splitTable } from './table-cells.ts'

const FLAME_FOLDER = fileURLToPath(new URL('../../../flame/', import.meta.url))

function renderFlameNames(service: string): string {
  const paths = globSync(`${service}/*/*/hot.json`, { cwd: FLAME_FOLDER }).map(dirname).toSorted()
  if (paths.length === 0) return ''
  const names = `<p>Flame graphs, which <code>pnpm flame --open NAME</code> opens: ${paths.map(escape).join(' · ')}</p>`
  return renderDetails(`<b>flame graphs</b>: ${paths.length}`, names)
}

const getAnchor = ({ table }: PublishedTable) => `${table.service}-${table.name}`

/** Renders a table, closed at first: the results of each processor model. */
const renderTableDetails = (published: readonly PublishedTable[]): string => {
  const { table } = published[0]!
  const summary = `<b>${escape(table.name)}</b>: ${escape(table.title)}`
  return renderDetails(summary, published.map(renderMachineResults).join('\n'), getAnchor(published[0]!))
}

const renderMachine = ({ machine }: PublishedTable) =>
  `<p class="machine">${escape(`${formatMachine(machine)}, ${machine.memoryGiB} GiB`)}</p>`

function renderMachineResults(one: PublishedTable): string {
  const { table, results } = one
  return `${renderMachine(one)}
${createPlots(results, table)
  .map(({ title, html }) => `<h4>${escape(title)}</h4>${html}`)
  .join('\n')}
${buildTables(results, { ...table, columns: omitSources(table.columns) })
  .flatMap((cells) => splitTable(cells, PAGE_WIDTH, getLongestWord))
  .map((cells) => renderTable(cells))
  .join('')}`
}

/** Renders the first plot of the first table of a service, which is its main one. */
const renderMainPlot = (published: readonly PublishedTable[]): string =>
  published
    .flatMap((one) => {
      const [plot] = createPlots(one.results, one.table)
      return plot
        ? [
            `<h3>${escape(plot.title)}</h3><p class="soft">${escape(one.table.title)}.</p>${plot.html}${renderMachine(one)}`,
          ]
        : []
    })
    .join('\n')

/** Lists the tables of a service, each with the results of all processor models. */
const groupByTable = (published: readonly PublishedTable[]) => [...Map.groupBy(published, getTableName).values()]

const renderService = ([service, all]: readonly [string, readonly PublishedTable[][]]): string =>
  [
    `<h2 id="${service}">${service}</h2>`,
    renderMainPlot(all[0]!),
    renderFlameNames(service),
    ...all.map(renderTableDetails),
  ].join('\n')

/** Renders the comparisons: first the rows in which another program is ahead. */
function renderConclusions(published: readonly PublishedTable[]): string {
  const [behind, others] = [listRowsBehind(published), listConclusions(published)]
  return `<h2 id="conclusions">Where others are ahead</h2>
<p class="soft">Rows with the same cause share a line. The label is the command that measures the row again. Ratios are ours / peer: above 1 the peer needs less CPU time.</p>
${behind.length > 1 ? `<div class="conclusions">${renderTable(behind, 'texts')}</div>` : ''}
${others.length > 1 ? renderDetails(`The other ${others.length - 1} comparisons, in which no peer is ahead`, renderTable(others, 'texts')) : ''}`
}

/**
 * Renders the whole report as one page without other files. Tables are closed at first.
 * @param runs published runs of the guard
 */
export function renderReport(published: readonly PublishedTable[], runs: readonly GuardRun[] = []): string {
  const services = Array.from(
    Map.groupBy(published, ({ table }) => table.service),
    ([service, all]) => [service, groupByTable(all)] as const,
  )
  const sections = [
    ['conclusions', 'where others are ahead'],
    ['sources', 'the four sources'],
    ...services.map(([service, all]) => [service, `${service} (${all.length} tables)`]),
    ['over-time', 'over time'],
    ['method', 'method'],
  ]
  const contents = sections.map(([id, text]) => `<li><a href="#${id}">${text}</a></li>`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Influencer Stats: benchmarks</title><style>${STYLE}</style></head>
<body><h1>Influencer Stats: benchmarks</h1>
${renderFirstScreen(published)}
<nav aria-label="Contents"><ul>${contents.join('\n')}</ul></nav>
${renderConclusions(published)}
${renderSources(published)}
${services.map(renderService).join('\n')}
${renderOverTime(runs)}
<h2 id="method">Method</h2>
<p class="soft">Every reply was checked. A row with a wrong or missing reply has no result. Bars are medians of linear length; dark lines end at the minimum and the maximum of all rounds. Requests per second are of a closed loop, latencies of an open loop. Intervals have at least 95 % confidence. If the generator was the limit, the ratio is not shown.</p>
<script>
const openTarget = () => { for (let part = document.getElementById(location.hash.slice(1)); part; part = part.parentElement) if (part.tagName === 'DETAILS') part.open = true }
addEventListener('hashchange', openTarget)
openTarget()
</script>
</body></html>
`
}
