import { withProse } from '@influencer-stats/bench/report/prose'
import { replaceSection } from '@influencer-stats/bench/report/publish'
import { readResults } from '@influencer-stats/bench/report/results'
import { tables, workloads } from '@influencer-stats/bench/tables/all'
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { services } from '../../services.ts'
import { getFolder } from './arguments.ts'
import { readFindings, type Finding } from './findings.ts'
import { FLAME_FOLDER } from './paths.ts'
import { RENAMED_FILES } from './renamed.ts'
import { compareWithSource, formatShares, findTop, formatTopSentence } from './sentences.ts'
import { toCurrentReport, type GraphSummary, type HotReport } from './hot-report.ts'

const README_PATH = join(FLAME_FOLDER, 'README.md')

/**
 * Returns the CPU graph of the busiest thread: the serving thread, except on a node that only applies writes of other
 * nodes.
 */
const findBusiest = ({ graphs }: HotReport) =>
  graphs.filter(({ kind }) => kind === 'cpu').toSorted((a, b) => a.idle - b.idle)[0]!

const getGraph = (hot: HotReport, kind: GraphSummary['kind']) =>
  hot.graphs.find((graph) => graph.kind === kind && graph.thread === findBusiest(hot).thread)!

/** Returns the name of a subject within its service, which is also its heading. */
const getName = ({ variant, work }: HotReport) => `${variant} ${work}`

/** Reads the recordings of a service, in the order of its variants. */
function readReports(service: string): HotReport[] {
  const files = globSync(`${service}/*/*/hot.json`, { cwd: FLAME_FOLDER }).toSorted()
  return files.map((file) => toCurrentReport(JSON.parse(readFileSync(join(FLAME_FOLDER, file), 'utf8'))))
}

const formatPercents = ({ self, total }: { self: number; total: number }) =>
  `${self.toFixed(1)} % / ${total.toFixed(1)} %`

function renderTableRow(hot: HotReport): string {
  const cpu = getGraph(hot, 'cpu')
  const allocation = getGraph(hot, 'allocation')
  const cells = [cpu, allocation].flatMap((graph) => {
    const top = findTop(graph)
    const [part] = graph.parts
    return [
      top ? `\`${top.function}\` ${formatPercents(top)}` : 'none',
      part ? `${part.name} ${part.share.toFixed(1)} %` : 'none',
    ]
  })
  return `| [${getName(hot)}](#${getName(hot).replace(' ', '-')}) | ${cells.join(' | ')} |`
}

const PAGE_NAMES: Readonly<Record<string, string>> = {
  'clinic-flame.html': 'clinic flame',
  'cpu-thread-0.html': 'CPU of the serving thread',
  'cpu-main.html': 'CPU of main',
  'allocation-thread-0.html': 'allocations of the serving thread',
  'allocation-main.html': 'allocations of main',
  'hot.json': 'numbers',
}

function renderLinks(hot: HotReport): string {
  const folder = getFolder(hot)
  const existing = new Set(readdirSync(join(FLAME_FOLDER, folder)))
  return Object.entries(PAGE_NAMES)
    .filter(([name]) => existing.has(name))
    .map(([name, title]) => `[${title}](${folder}/${name})`)
    .join(' · ')
}

function renderSection(hot: HotReport, row: object, finding: Finding | undefined): string {
  const cpu = getGraph(hot, 'cpu')
  const allocation = getGraph(hot, 'allocation')
  const parts = Object.values(row)
    .flat()
    .filter((value) => typeof value === 'string')
  const paragraphs = [
    `### ${getName(hot)}`,
    `Parts: ${parts.join(', ')}. ${renderLinks(hot)}`,
    describeRun(hot),
    `${formatTopSentence('CPU', cpu, 'of the CPU time')} ${formatShares(cpu)}`,
    `${formatTopSentence('Allocations', allocation, 'of the bytes')} ${formatShares(allocation)}`,
  ]
  if (finding) paragraphs.push(compareWithSource(cpu, finding), `**Change next:** ${finding.next}`)
  return paragraphs.join('\n\n')
}

/** Describes the load and the commit of a recording, because lines are those of the commit. */
function describeRun(hot: HotReport): string {
  const { says, rate, machine, seconds } = hot
  const thread = findBusiest(hot).thread === 'main' ? 'main' : 'the serving thread'
  const pace = rate ? `, ${rate.toLocaleString('en-US')} requests/s` : ''
  const code = machine.commit.endsWith('+changes')
    ? 'uncommitted code, whose lines may have moved'
    : `commit ${machine.commit}`
  return `${seconds} s of ${thread} under load: ${says}${pace}. Node.js ${machine.node}, ${machine.processor}, ${machine.date.slice(0, 10)}, ${code}.`
}

async function renderSections(service: string): Promise<string> {
  const { variants = {} } = await services[service]!()
  const reports = readReports(service)
  const findings = readFindings()
  if (reports.length === 0) return ''
  return [
    `## ${service}`,
    'Shares of functions are self / total.',
    [
      '| variant | CPU: top function | CPU: top component | allocations: top function | allocations: top component |',
      '|---|---|---|---|---|',
      ...reports.map(renderTableRow),
    ].join('\n'),
    ...reports.map((hot) =>
      renderSection(hot, variants[hot.variant] ?? {}, findings.get(`${service} ${getName(hot)}`)),
    ),
  ].join('\n\n')
}

/** Renders the table of the renamed files that a text names, with their current paths. */
function renderRenamedFiles(text: string): string {
  const rows = Object.entries(RENAMED_FILES).filter(([file]) => text.includes(`\`${file}:`))
  if (rows.length === 0) return ''
  return [
    '## Renamed files',
    'Lines and paths are those of the commit of a graph. These files have a different path today:',
    [
      '| path in the graphs | current path |',
      '|---|---|',
      ...rows.map(([file, current]) => `| \`${file}\` | \`${current}\` |`),
    ].join('\n'),
  ].join('\n\n')
}

/** Renders `flame/README.md` from the recordings, the findings and the results of benchmarks. */
export async function renderReadme(): Promise<string> {
  const sections = (await Promise.all(Object.keys(workloads).map(renderSections))).filter(Boolean)
  const generated = [...sections, renderRenamedFiles(sections.join('\n'))].filter(Boolean).join('\n\n')
  const text = replaceSection(readFileSync(README_PATH, 'utf8'), 'flame', `\n${generated}\n`)
  return withProse(text, readResults(tables))
}

export const updateReadme = async (): Promise<void> => writeFileSync(README_PATH, await renderReadme())
