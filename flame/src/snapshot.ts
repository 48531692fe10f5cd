import { describeMachine, type Machine } from '@influencer-stats/bench/machine'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf, type Chosen } from './arguments.ts'
import { employersOf, homeShares, hotFunctions, componentShares, type HotFunction, type Share } from './hot.ts'
import { renderPage } from './html.ts'
import { LARGEST } from './limits.ts'
import type { Kind } from './messages.ts'
import { components } from './components.ts'
import { INTERVALS, type Recording } from './record.ts'

/** One graph in figures. Shares are percent of the samples with work in JavaScript or for it, or of the bytes. */
export interface Graph {
  readonly kind: Kind
  readonly thread: string
  readonly unit: 'samples' | 'bytes'
  readonly total: number
  /** Percent of all samples that had nothing to do. */
  readonly idle: number
  /** Percent of the other samples that were in native code with no JavaScript on the stack. */
  readonly program: number
  readonly parts: readonly Share[]
  /** Files of this repository, packages, modules of Node, native functions: in themselves. */
  readonly homes: readonly Share[]
  /** Of the function that tops the graph: for whom it works. */
  readonly employers: readonly Share[]
  readonly functions: readonly HotFunction[]
}

/** `hot.json`: what the graphs of a variant show, in figures. */
export interface Hot {
  readonly service: string
  readonly variant: string
  /** Empty or absent where the service has but one. */
  readonly workload?: string
  readonly machine: Machine
  /** Each window (s). */
  readonly seconds: number
  /** Between two samples. */
  readonly intervals: { readonly microseconds: number; readonly bytes: number }
  readonly graphs: readonly Graph[]
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
  { service, variant, workload, seconds }: Chosen & Pick<Hot, 'seconds'>,
  recordings: readonly Recording[],
): void {
  const hot: Hot = {
    service,
    variant,
    workload,
    machine: describeMachine(),
    seconds,
    intervals: { microseconds: INTERVALS.cpu, bytes: INTERVALS.allocation },
    graphs: recordings.map((recording) => graphOf(recording, service)),
  }
  mkdirSync(folder, { recursive: true })
  for (const [i, { kind, thread, profile }] of recordings.entries()) {
    const graph = hot.graphs[i]!
    const title = `${folderOf({ service, variant, workload })}: ${words[kind]}, ${thread === 'main' ? 'main thread' : `serving ${thread.replace('-', ' ')}`}`
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
