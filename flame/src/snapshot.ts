import { describeMachine } from '@influencer-stats/bench/machine'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf, type Chosen } from './arguments.ts'
import { employersOf, homeShares, hotFunctions, componentShares } from './hot.ts'
import { renderPage } from './html.ts'
import { LARGEST, ROOT } from './paths.ts'
import { topSentence } from './sentences.ts'
import type { Kind } from './control.ts'
import { components } from './components.ts'
import type { Graph, Hot } from './recorded.ts'
import { INTERVALS, type Recording } from './record.ts'

const LINE = /(?:packages|bench)\/[\w./-]+\.ts:\d+/g

/** The code of a line of this repository, as it is now; nothing where there is none. */
export function codeOf(place: string): string {
  const [file, line] = place.split(':') as [string, string]
  const path = join(ROOT, file)
  return existsSync(path) ? (readFileSync(path, 'utf8').split('\n')[Number(line) - 1]?.trim() ?? '') : ''
}

/** What sentences about these graphs name. */
function linesOf(graphs: readonly Graph[]): Record<string, string> {
  const places = graphs.flatMap((graph) => topSentence('', graph, '').match(LINE) ?? [])
  return Object.fromEntries(places.map((place) => [place, codeOf(place)]))
}

const MOST_EMPLOYERS = 5
const round = (share: number) => Math.round(share * 100) / 100
const ratio = (part: number, whole: number) => (whole === 0 ? 0 : round((100 * part) / whole))

function graphOf({ kind, thread, profile }: Recording, service: string): Graph {
  const { unit, total, idle, program } = profile
  const functions = hotFunctions(profile)
  return {
    kind,
    thread,
    unit,
    total: Math.round(total),
    idle: ratio(idle, total + idle + program),
    program: ratio(program, total + program),
    parts: componentShares(profile, components[service] ?? []),
    homes: homeShares(profile),
    employers: functions[0]
      ? employersOf(profile, functions[0], components[service] ?? []).slice(0, MOST_EMPLOYERS)
      : [],
    functions,
  }
}

const words: Readonly<Record<Kind, string>> = { cpu: 'CPU', allocation: 'Allocations' }

function subtitle({ seconds, intervals, machine }: Hot, { kind, total, idle, program }: Graph): string {
  const shown =
    kind === 'cpu'
      ? `${total} samples with work, one each ${intervals.microseconds} us; not shown: idle ${idle} % of the time, and ${program} % of the work, which is in native code without JavaScript above it`
      : `${(total / 1e6).toFixed(0)} MB allocated, collected again or not, one sample each ${intervals.bytes / 1024} KiB`
  return `${seconds} s under load: ${shown}. Inlining off. Node.js ${machine.node}, ${machine.processor}, ${machine.date.slice(0, 10)}.`
}

/** Writes `<kind>-<thread>.html` and `hot.json` into a variant's folder. @throws Error when a page is too large */
export function writeSnapshot(
  folder: string,
  told: Chosen & Pick<Hot, 'seconds' | 'says' | 'rate'>,
  recordings: readonly Recording[],
): void {
  const graphs = recordings.map((recording) => graphOf(recording, told.service))
  const hot: Hot = {
    ...told,
    machine: describeMachine(),
    intervals: { microseconds: INTERVALS.cpu, bytes: INTERVALS.allocation },
    graphs,
    lines: linesOf(graphs),
  }
  mkdirSync(folder, { recursive: true })
  for (const [i, { kind, thread, profile }] of recordings.entries()) {
    const graph = graphs[i]!
    const title = `${folderOf(told)}: ${words[kind]}, ${thread === 'main' ? 'main thread' : `serving ${thread.replace('-', ' ')}`}`
    const page = renderPage({
      title,
      subtitle: subtitle(hot, graph),
      profile,
      hot: graph.functions,
      parts: graph.parts,
    })
    if (Buffer.byteLength(page) > LARGEST) throw new Error(`${kind}-${thread}.html has more than ${LARGEST} bytes`)
    writeFileSync(join(folder, `${kind}-${thread}.html`), page)
  }
  writeFileSync(join(folder, 'hot.json'), `${JSON.stringify(hot, undefined, 2)}\n`)
}
