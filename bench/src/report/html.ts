import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { machineText } from '../machine.ts'
import { behindSource } from './behind-source.ts'
import { BEHIND_SOURCE, conclusions, reasonsOf } from './conclusions.ts'
import { plotsOf } from './plots.ts'
import type { Published } from './results.ts'
import { escape } from './svg.ts'
import { tablesOf, type Cells } from './table.ts'

const FLAME = fileURLToPath(new URL('../../../flame/', import.meta.url))

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

function flameLinks(service: string): string {
  const paths = globSync(`${service}/*/*/hot.json`, { cwd: FLAME }).map(dirname).toSorted()
  const links = paths.map((path) => `<a href="../flame/${path}/cpu-thread-0.html">${escape(path)}</a>`)
  return links.length > 0 ? `<p>Flame graphs: ${links.join(' · ')}</p>` : ''
}

const cells = (tag: string, row: readonly string[]) =>
  `<tr>${row.map((cell) => `<${tag}>${escape(cell)}</${tag}>`).join('')}</tr>`

const tableHtml = ([head, ...rows]: Cells) =>
  `<div class="scroll" tabindex="0"><table>${cells('th', head!)}${rows.map((row) => cells('td', row)).join('')}</table></div>`

const anchorOf = ({ table }: Published) => `${table.service}-${table.name}`

function sectionOf(published: Published): string {
  const { table, machine, results } = published
  return `<h3 id="${anchorOf(published)}">${escape(table.title)}</h3>
<p>${escape(`${machineText(machine)}, ${machine.memoryGiB} GiB`)}</p>
${plotsOf(results, table)
  .map(({ title, svg }) => `<h4>${escape(title)}</h4><div class="scroll" tabindex="0">${svg}</div>`)
  .join('\n')}
${tablesOf(results, table).map(tableHtml).join('')}`
}

const contentsOf = (published: Published) =>
  `<li><a href="#${anchorOf(published)}">${escape(published.table.name)}</a></li>`

/** The whole report as one page that needs nothing else. */
export function reportHtml(published: readonly Published[]): string {
  const services = [...Map.groupBy(published, ({ table }) => table.service)]
  const contents = services.map(
    ([service, all]) => `<li><a href="#${service}">${service}</a><ul>${all.map(contentsOf).join('')}</ul></li>`,
  )
  const concluded = conclusions(published)
  const behind = behindSource(published)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Influencer Stats: measured</title><style>${STYLE}</style></head>
<body><h1>Influencer Stats: measured</h1>
<p>Every answer was checked; a row with a wrong or missing one is no result. Bars are medians, whiskers the fastest and the slowest round. Closed loop for requests a second, open loop for latency. Below 1 a ratio of CPU is ours to the good; intervals are 95 % sure or more; not told is what the generator limited.</p>
${concluded.length > 1 ? `<div class="conclusions">${tableHtml(concluded)}</div>` : ''}
${behind.length > 1 ? `<p>${escape(BEHIND_SOURCE)}</p><div class="conclusions">${tableHtml(behind)}</div>` : ''}
${reasonsOf(published)
  .map(([titles, reason]) => `<p><strong>${escape(titles)}</strong>: ${escape(reason)}</p>`)
  .join('\n')}
<nav aria-label="Contents"><ul>${contents.join('\n')}</ul></nav>
${services.map(([service, all]) => [`<h2 id="${service}">${service}</h2>`, flameLinks(service), ...all.map(sectionOf)].join('\n')).join('\n')}
</body></html>
`
}
