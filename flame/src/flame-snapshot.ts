import { describeMachine } from '@influencer-stats/bench/machine'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getFolder, type FlameSubject } from './arguments.ts'
import { listCallers, listHotFunctions, sumComponents, sumHomes, toPercent } from './graph/hot-functions.ts'
import { packFile } from './file/flame-file.ts'
import { ROOT } from './paths.ts'
import { createRecordingFile, toVisibleProfile } from './file/recording-file.ts'
import { formatTopSentence } from './sentences.ts'
import type { ProfileKind } from './recording/profile-control.ts'
import { components } from './components.ts'
import type { GraphSummary, HotReport } from './hot-report.ts'
import { INTERVALS, type ThreadRecording } from './recording/record.ts'

const LINE_PATTERN = /(?:packages|bench)\/[\w./-]+\.ts:\d+/g

/** Returns the current code of a line of this repository (`file:line`); empty if there is none. */
export function readCode(location: string): string {
  const [file, line] = location.split(':') as [string, string]
  const path = join(ROOT, file)
  return existsSync(path) ? (readFileSync(path, 'utf8').split('\n')[Number(line) - 1]?.trim() ?? '') : ''
}

/** Returns the code of the lines that sentences about these graphs name. */
function readLines(graphs: readonly GraphSummary[]): Record<string, string> {
  const locations = graphs.flatMap((graph) => formatTopSentence('', graph, '').match(LINE_PATTERN) ?? [])
  return Object.fromEntries(locations.map((location) => [location, readCode(location)]))
}

const MAX_CALLERS = 5

function toGraph({ kind, thread, profile }: ThreadRecording, service: string): GraphSummary {
  const { unit, total, idle, program } = profile
  const functions = listHotFunctions(profile)
  const ownComponents = components[service] ?? []
  return {
    kind,
    thread,
    unit,
    total: Math.round(total),
    idle: toPercent(idle, total + idle + program),
    program: toPercent(program, total + program),
    parts: sumComponents(toVisibleProfile(profile), ownComponents),
    homes: sumHomes(profile),
    employers: functions[0] ? listCallers(profile, functions[0], ownComponents).slice(0, MAX_CALLERS) : [],
    functions,
  }
}

const KIND_NAMES: Readonly<Record<ProfileKind, string>> = { cpu: 'CPU', allocation: 'Allocations' }

/** Describes a recording in one sentence. */
export function formatSubtitle(
  { seconds, intervals, machine }: HotReport,
  { kind, total, idle, program }: GraphSummary,
): string {
  const description =
    kind === 'cpu'
      ? `${total} samples with work, one per ${intervals.microseconds} us; not shown: idle ${idle} % of the time, and ${program} % of the work, which is native code without JavaScript on the stack`
      : `${(total / 1e6).toFixed(0)} MB allocated, including collected objects, one sample per ${intervals.bytes / 1024} KiB`
  return `${seconds} s under load: ${description}. Inlining off. Node.js ${machine.node}, ${machine.processor}, ${machine.date.slice(0, 10)}.`
}

/** The name of a graph. */
export const formatTitle = (subject: FlameSubject, { kind, thread }: Pick<GraphSummary, 'kind' | 'thread'>): string =>
  `${getFolder(subject)}: ${KIND_NAMES[kind]}, ${thread === 'main' ? 'main thread' : `serving ${thread.replace('-', ' ')}`}`

/** Writes `<kind>-<thread>.json.gz` and `hot.json` into the folder of a subject. */
export function writeSnapshot(
  folder: string,
  run: FlameSubject & Pick<HotReport, 'seconds' | 'says' | 'rate' | 'stepSeconds'>,
  recordings: readonly ThreadRecording[],
): void {
  const graphs = recordings.map((recording) => toGraph(recording, run.service))
  const hot: HotReport = {
    ...run,
    machine: describeMachine(),
    intervals: { microseconds: INTERVALS.cpu, bytes: INTERVALS.allocation },
    graphs,
    lines: readLines(graphs),
  }
  mkdirSync(folder, { recursive: true })
  for (const [i, { kind, thread, profile }] of recordings.entries()) {
    const graph = graphs[i]!
    const texts = { name: formatTitle(run, graph), description: formatSubtitle(hot, graph) }
    const file = createRecordingFile(toVisibleProfile(profile), {
      ...texts,
      functions: graph.functions,
      parts: graph.parts,
    })
    writeFileSync(join(folder, `${kind}-${thread}.json.gz`), packFile(file))
  }
  writeFileSync(join(folder, 'hot.json'), `${JSON.stringify(hot, undefined, 2)}\n`)
}
