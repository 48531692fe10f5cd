import { withProse } from '@influencer-stats/bench/report/prose'
import { replaceSection } from '@influencer-stats/bench/report/publish'
import { readResults } from '@influencer-stats/bench/report/results'
import { tables, workloads } from '@influencer-stats/bench/tables/all'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { services } from '../../services.ts'
import { getFolder } from './arguments.ts'
import { readFindings, type Finding } from './findings.ts'
import { FLAME_FOLDER } from './paths.ts'
import { formatSubtitle, formatTitle } from './flame-snapshot.ts'
import { listTopFunctions } from './file/recording-file.ts'
import { describeStaleness, readReports, readTableCommits } from './stale-graphs.ts'
import { compareWithSource, formatPercent, formatShares, findTop, formatTopSentence } from './sentences.ts'
import type { GraphSummary, HotReport } from './hot-report.ts'

const README_PATH = join(FLAME_FOLDER, 'README.md')

/** Returns the CPU graph of the busiest thread: the serving one, except on a node that only applies writes. */
const findBusiest = ({ graphs }: HotReport) =>
  graphs.filter(({ kind }) => kind === 'cpu').toSorted((a, b) => a.idle - b.idle)[0]!

const getGraph = (hot: HotReport, kind: GraphSummary['kind']) =>
  hot.graphs.find((graph) => graph.kind === kind && graph.thread === findBusiest(hot).thread)!

/** Returns the name of a subject within its service, which is also its heading. */
const getName = ({ variant, work }: HotReport) => `${variant} ${work}`

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

/** Links to what a code host shows, and the commands that open the graphs. */
function renderLinks(hot: HotReport): string {
  const folder = getFolder(hot)
  const hasClinic = existsSync(join(FLAME_FOLDER, folder, 'clinic-flame.html.gz'))
  return [
    `[hot functions](${folder}/README.md)`,
    `[numbers](${folder}/hot.json)`,
    `graphs: \`pnpm flame --open ${folder}\``,
    ...(hasClinic ? [`clinic flame: \`pnpm flame --open ${folder}/clinic-flame\``] : []),
  ].join(' · ')
}

/** Warns about a graph of other code than its table; undefined if it has the same. */
function describeOldCode(hot: HotReport, commits: ReadonlyMap<string, string>): string | undefined {
  const reason = describeStaleness(hot, commits)
  return reason && `**Other code than the table:** ${reason}, so shares may differ from its costs.`
}

function renderSection(hot: HotReport, row: object, finding: Finding | undefined, oldCode: string | undefined): string {
  const cpu = getGraph(hot, 'cpu')
  const allocation = getGraph(hot, 'allocation')
  const parts = Object.values(row)
    .flat()
    .filter((value) => typeof value === 'string')
  const paragraphs = [
    `### ${getName(hot)}`,
    `Parts: ${parts.join(', ')}. ${renderLinks(hot)}`,
    describeRun(hot),
    ...(oldCode ? [oldCode] : []),
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
  const commits = readTableCommits()
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
      renderSection(
        hot,
        variants[hot.variant] ?? {},
        findings.get(`${service} ${getName(hot)}`),
        describeOldCode(hot, commits),
      ),
    ),
  ].join('\n\n')
}

const renderTable = (heads: readonly string[], rows: readonly (readonly string[])[]) =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Renders the tables of one graph, which the viewer shows below it. */
function renderGraph(hot: HotReport, graph: GraphSummary): string {
  const rows = listTopFunctions(graph.functions).map(({ function: name, file, line, self, total }) => [
    `\`${name}\``,
    file ? `\`${file}:${line}\`` : 'native code',
    formatPercent(self),
    formatPercent(total),
  ])
  const parts = graph.parts.map(({ name, share }) => [name, formatPercent(share)])
  return [
    `## ${formatTitle(hot, graph)}`,
    formatSubtitle(hot, graph),
    `Graph: \`pnpm flame --open ${getFolder(hot)}/${graph.kind}-${graph.thread}\``,
    ...(rows.length > 0
      ? [
          renderTable(['hottest functions', 'location', 'self', 'total'], rows),
          renderTable(['component, including its native work', 'share'], parts),
        ]
      : ['This thread had no work.']),
  ].join('\n\n')
}

/** Renders the `README.md` of a recording: the tables of its graphs. A code host shows it with the folder. */
export const renderRecordingReadme = (hot: HotReport): string =>
  `${[`# ${getFolder(hot)}`, describeRun(hot), ...hot.graphs.map((graph) => renderGraph(hot, graph))].join('\n\n')}\n`

/** Renders `flame/README.md` from the recordings, the findings and the results of benchmarks. */
export async function renderReadme(): Promise<string> {
  const sections = (await Promise.all(Object.keys(workloads).map(renderSections))).filter(Boolean)
  const text = replaceSection(readFileSync(README_PATH, 'utf8'), 'flame', `\n${sections.join('\n\n')}\n`)
  return withProse(text, readResults(tables))
}

/** Writes `flame/README.md` and the `README.md` of each recording. */
export async function updateReadme(): Promise<void> {
  for (const hot of Object.keys(workloads).flatMap(readReports))
    writeFileSync(join(FLAME_FOLDER, getFolder(hot), 'README.md'), renderRecordingReadme(hot))
  writeFileSync(README_PATH, await renderReadme())
}
