import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatMachine } from '../machine.ts'
import { listConclusions, listRowsBehind } from './conclusions.ts'
import { createPlots } from './plots.ts'
import { getTableName, type PublishedTable } from './results.ts'
import { escape } from './svg.ts'
import { buildTables, type Cells } from './table-cells.ts'

const FLAME_FOLDER = fileURLToPath(new URL('../../../flame/', import.meta.url))

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #667; --line: #dde; --paper: #fff; --bar: #2f6fde; --mark: #d9480f }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #9aa; --line: #334; --paper: #14171a; --bar: #5b93f5; --mark: #ff922b } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 920px; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.6rem } h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.5rem } h3 { margin: 2.4rem 0 .4rem } h4 { margin: 1.6rem 0 .4rem }
a { color: var(--bar) } nav ul { columns: 2 20rem; padding-left: 1.2rem }
p, figcaption { color: var(--soft) } svg { width: 100%; min-width: 620px; height: auto } svg text { font-size: 13px; dominant-baseline: middle; fill: var(--ink) }
.label { text-anchor: end } .tick { text-anchor: middle; fill: var(--soft) } rect { fill: var(--bar) } .value { fill: var(--soft) }
.whisker { stroke: var(--ink); stroke-width: 2; opacity: .5 } .reference { stroke: var(--mark); stroke-width: 3 } .grid { stroke: var(--line) }
.curves path { fill: none; stroke-width: 2 } .curves .legend { fill: revert-layer }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; white-space: nowrap }
td, th { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right } td:first-child, th:first-child { text-align: left }
.conclusions td:first-child { white-space: normal }
.failed { color: var(--mark) }`

function renderFlameNames(service: string): string {
  const paths = globSync(`${service}/*/*/hot.json`, { cwd: FLAME_FOLDER }).map(dirname).toSorted()
  if (paths.length === 0) return ''
  return `<p>Flame graphs, which <code>pnpm flame --open NAME</code> opens: ${paths.map(escape).join(' · ')}</p>`
}

const renderCells = (tag: string, row: readonly string[]) =>
  `<tr>${row.map((cell) => `<${tag}>${escape(cell)}</${tag}>`).join('')}</tr>`

const renderTable = ([head, ...rows]: Cells) =>
  `<div class="scroll" tabindex="0"><table>${renderCells('th', head!)}${rows.map((row) => renderCells('td', row)).join('')}</table></div>`

const getAnchor = ({ table }: PublishedTable) => `${table.service}-${table.name}`

/** Renders a table: the results of each processor model. */
const renderSection = (published: readonly PublishedTable[]): string =>
  [
    `<h3 id="${getAnchor(published[0]!)}">${escape(published[0]!.table.title)}</h3>`,
    ...published.map(renderMachineResults),
  ].join('\n')

function renderMachineResults({ table, machine, results }: PublishedTable): string {
  return `<p>${escape(`${formatMachine(machine)}, ${machine.memoryGiB} GiB`)}</p>
${createPlots(results, table)
  .map(({ title, svg }) => `<h4>${escape(title)}</h4><div class="scroll" tabindex="0">${svg}</div>`)
  .join('\n')}
${buildTables(results, table).map(renderTable).join('')}`
}

const renderContents = ([first]: readonly PublishedTable[]) =>
  `<li><a href="#${getAnchor(first!)}">${escape(first!.table.name)}</a></li>`

/** Lists the tables of a service, each with the results of all processor models. */
const groupByTable = (published: readonly PublishedTable[]) => [...Map.groupBy(published, getTableName).values()]

/** Renders the whole report as one page without other files. */
export function renderReport(published: readonly PublishedTable[]): string {
  const services = Array.from(
    Map.groupBy(published, ({ table }) => table.service),
    ([service, all]) => [service, groupByTable(all)] as const,
  )
  const contents = services.map(
    ([service, all]) => `<li><a href="#${service}">${service}</a><ul>${all.map(renderContents).join('')}</ul></li>`,
  )
  const [behind, conclusions] = [listRowsBehind(published), listConclusions(published)]
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Influencer Stats: benchmarks</title><style>${STYLE}</style></head>
<body><h1>Influencer Stats: benchmarks</h1>
<p>Every reply was checked. A row with a wrong or missing reply has no result. Bars are medians; their lines end at the minimum and the maximum of all rounds. Requests per second are of a closed loop, latencies of an open loop. If a ratio of CPU is below 1, our service needs less processor time. Intervals have at least 95 % confidence. If the generator was the limit, the ratio is not shown.</p>
${[behind, conclusions].map((cells) => (cells.length > 1 ? `<div class="conclusions">${renderTable(cells)}</div>` : '')).join('\n')}
<nav aria-label="Contents"><ul>${contents.join('\n')}</ul></nav>
${services.map(([service, all]) => [`<h2 id="${service}">${service}</h2>`, renderFlameNames(service), ...all.map(renderSection)].join('\n')).join('\n')}
</body></html>
`
}
