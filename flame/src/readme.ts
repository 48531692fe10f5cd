import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { services } from '../../services.ts'
import { folderOf } from './arguments.ts'
import { lessons, type Lesson } from './lessons.ts'
import { FLAME } from './paths.ts'
import { againstSource, shareList, topOf, topSentence } from './sentences.ts'
import type { Graph, Hot } from './snapshot.ts'
import { workloads } from './workloads.ts'

const BEGIN = '<!-- written by pnpm flame: begin -->'
const END = '<!-- written by pnpm flame: end -->'

/** The thread that serves: where the time goes that requests take. */
const graphOf = ({ graphs }: Hot, kind: Graph['kind']) =>
  graphs.find((graph) => graph.kind === kind && graph.thread !== 'main')!

/** The name of a snapshot within its service, and of its heading. */
const nameOf = ({ variant, workload }: Hot) => (workload ? `${variant} ${workload}` : variant)
const folderOfHot = ({ service, variant, workload = '' }: Hot) => folderOf({ service, variant, workload })

function readHots(service: string, variants: readonly string[]): Hot[] {
  const folders = variants.flatMap((variant) =>
    Object.keys(workloads[service]!).map((workload) => folderOf({ service, variant, workload })),
  )
  const files = folders.map((folder) => join(FLAME, folder, 'hot.json')).filter((file) => existsSync(file))
  return files.map((file) => JSON.parse(readFileSync(file, 'utf8')))
}

const figures = ({ self, total }: { self: number; total: number }) => `${self.toFixed(1)} % / ${total.toFixed(1)} %`

function tableRow(hot: Hot): string {
  const cpu = graphOf(hot, 'cpu')
  const allocation = graphOf(hot, 'allocation')
  const cells = [cpu, allocation].flatMap((graph) => {
    const top = topOf(graph)
    const [part] = graph.parts
    return [
      top ? `\`${top.function}\` ${figures(top)}` : 'nothing',
      part ? `${part.name} ${part.share.toFixed(1)} %` : 'nothing',
    ]
  })
  return `| [${nameOf(hot)}](#${nameOf(hot).replace(' ', '-')}) | ${cells.join(' | ')} |`
}

const pageNames: Readonly<Record<string, string>> = {
  'clinic-flame.html': 'clinic flame',
  'cpu-thread-0.html': 'CPU of the serving thread',
  'cpu-main.html': 'CPU of main',
  'allocation-thread-0.html': 'allocations of the serving thread',
  'allocation-main.html': 'allocations of main',
  'hot.json': 'figures',
}

function links(hot: Hot): string {
  const folder = folderOfHot(hot)
  const there = new Set(readdirSync(join(FLAME, folder)))
  return Object.entries(pageNames)
    .filter(([name]) => there.has(name))
    .map(([name, title]) => `[${title}](${folder}/${name})`)
    .join(' · ')
}

function section(hot: Hot, row: object, lesson: Lesson | undefined): string {
  const cpu = graphOf(hot, 'cpu')
  const allocation = graphOf(hot, 'allocation')
  const made = Object.values(row)
    .flat()
    .filter((value) => typeof value === 'string')
  const paragraphs = [
    `### ${nameOf(hot)}`,
    `${made.join(', ')}. ${links(hot)}`,
    `${topSentence(nameOf(hot), cpu, 'of CPU')} ${shareList(cpu)}`,
    `${topSentence('Allocations', allocation, 'of the bytes')} ${shareList(allocation)}`,
  ]
  if (lesson) paragraphs.push(againstSource(cpu, lesson), `**Change next:** ${lesson.next}`)
  return paragraphs.join('\n\n')
}

/** What a service is asked, in words. */
async function loadsOf(service: string): Promise<string> {
  const table = Object.entries(workloads[service]!)
  const loads = await Promise.all(table.map(async ([name, load]) => ({ name, says: (await load()).says })))
  return loads.map(({ name, says }) => (name ? `${says} (${name})` : says)).join(', or ')
}

async function sectionsOf(service: string): Promise<string> {
  const { variants = {} } = await services[service]!()
  const hots = readHots(service, Object.keys(variants))
  if (hots.length === 0) return ''
  const { machine, seconds } = hots.at(-1)!
  const loads = await loadsOf(service)
  return [
    `## ${service}`,
    `Node.js ${machine.node}, ${machine.processor}, ${machine.processors} processors, ${machine.date.slice(0, 10)}; windows of ${seconds} s on the serving thread ${loads}. Self / total.`,
    [
      '| variant | CPU: top function | CPU: top part | allocations: top function | allocations: top part |',
      '|---|---|---|---|---|',
      ...hots.map(tableRow),
    ].join('\n'),
    ...hots.map((hot) => section(hot, variants[hot.variant]!, lessons[service]?.[nameOf(hot)])),
  ].join('\n\n')
}

/** Replaces what stands between the markers. @throws Error when they are not there */
export function replaceGenerated(readme: string, generated: string): string {
  const begin = readme.indexOf(BEGIN)
  const end = readme.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`flame/README.md has no "${BEGIN}" ... "${END}"`)
  return `${readme.slice(0, begin + BEGIN.length)}\n\n${generated}\n\n${readme.slice(end)}`
}

/** Writes what the snapshots in `flame/` say into `flame/README.md`. */
export async function updateReadme(): Promise<void> {
  const file = join(FLAME, 'README.md')
  const sections = await Promise.all(Object.keys(workloads).map(sectionsOf))
  writeFileSync(file, replaceGenerated(readFileSync(file, 'utf8'), sections.filter(Boolean).join('\n\n')))
}
