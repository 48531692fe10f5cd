import { withProse } from '@influencer-stats/bench/report/prose'
import { replaceSection } from '@influencer-stats/bench/report/publish'
import { readResults } from '@influencer-stats/bench/report/results'
import { tables, works } from '@influencer-stats/bench/tables/all'
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { services } from '../../services.ts'
import { folderOf } from './arguments.ts'
import { readLessons, type Lesson } from './lessons.ts'
import { FLAME } from './paths.ts'
import { againstSource, shareList, topOf, topSentence } from './sentences.ts'
import type { Graph, Hot } from './recorded.ts'

const README = join(FLAME, 'README.md')

/** The thread that works: the one that serves, but in a node that applies what others put. */
const busiest = ({ graphs }: Hot) => graphs.filter(({ kind }) => kind === 'cpu').toSorted((a, b) => a.idle - b.idle)[0]!

const graphOf = (hot: Hot, kind: Graph['kind']) =>
  hot.graphs.find((graph) => graph.kind === kind && graph.thread === busiest(hot).thread)!

/** The name of a snapshot within its service, and of its heading. */
const nameOf = ({ variant, work }: Hot) => `${variant} ${work}`

/** What was recorded of a service, in the order of its variants. */
function readHots(service: string): Hot[] {
  const files = globSync(`${service}/*/*/hot.json`, { cwd: FLAME }).toSorted()
  return files.map((file) => JSON.parse(readFileSync(join(FLAME, file), 'utf8')))
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
  const folder = folderOf(hot)
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
    howOf(hot),
    `${topSentence(nameOf(hot), cpu, 'of CPU')} ${shareList(cpu)}`,
    `${topSentence('Allocations', allocation, 'of the bytes')} ${shareList(allocation)}`,
  ]
  if (lesson) paragraphs.push(againstSource(cpu, lesson), `**Change next:** ${lesson.next}`)
  return paragraphs.join('\n\n')
}

/** What was asked, and of which code: lines are those of a commit. */
function howOf(hot: Hot): string {
  const { says, rate, machine, seconds } = hot
  const thread = busiest(hot).thread === 'main' ? 'main' : 'the serving thread'
  const pace = rate ? `, ${rate.toLocaleString('en-US')} requests/s` : ''
  const of = machine.commit.endsWith('+changes') ? 'of uncommitted code, whose lines may have moved' : machine.commit
  return `${seconds} s on ${thread} under ${says}${pace}; Node.js ${machine.node}, ${machine.processor}, ${machine.date.slice(0, 10)}, ${of}.`
}

async function sectionsOf(service: string): Promise<string> {
  const { variants = {} } = await services[service]!()
  const hots = readHots(service)
  const lessons = readLessons()
  if (hots.length === 0) return ''
  return [
    `## ${service}`,
    'Self / total.',
    [
      '| variant | CPU: top function | CPU: top part | allocations: top function | allocations: top part |',
      '|---|---|---|---|---|',
      ...hots.map(tableRow),
    ].join('\n'),
    ...hots.map((hot) => section(hot, variants[hot.variant] ?? {}, lessons.get(`${service} ${nameOf(hot)}`))),
  ].join('\n\n')
}

/** `flame/README.md` as the snapshots, the lessons and the bench's results have it. */
export async function readmeText(): Promise<string> {
  const sections = await Promise.all(Object.keys(works).map(sectionsOf))
  const text = replaceSection(readFileSync(README, 'utf8'), 'flame', `\n${sections.filter(Boolean).join('\n\n')}\n`)
  return withProse(text, readResults(tables))
}

export const updateReadme = async (): Promise<void> => writeFileSync(README, await readmeText())
