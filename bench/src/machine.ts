import { execFileSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { stolenSeconds } from './processes.ts'

/** Where and on what a result was measured. Nothing in it names the machine. */
export interface Machine {
  readonly processor: string
  readonly processors: number
  readonly memoryGiB: number
  readonly platform: string
  readonly node: string
  readonly commit: string
  /** Average number of busy processes in the minute before. */
  readonly load: number
  readonly megahertz?: number
  /** The share of its processors that others had of the host while it was measured; absent where it cannot be told. */
  readonly steal?: number
  readonly date: string
}

/** What publishing writes: it makes no other program of a commit. */
const WRITTEN = ['bench/results', 'bench/report.html', '*.md', 'flame/*/v*']
const CHANGED = '+changes'

function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  try {
    const hash = git('rev-parse', '--short=12', 'HEAD')
    const excluded = WRITTEN.map((path) => `:(top,exclude)${path}`)
    return git('status', '--porcelain', '--', ':/', ...excluded) === '' ? hash : `${hash}${CHANGED}`
  } catch {
    return 'unknown'
  }
}

const loadNow = () => Math.round(loadavg()[0]! * 100) / 100

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    commit: commit(),
    load: loadNow(),
    megahertz: cpus()[0]?.speed ?? 0,
    date: new Date().toISOString(),
  }
}

/** In a line, as it stands below each table. */
export function machineText({
  processor,
  processors,
  node,
  commit: of,
  load,
  megahertz,
  steal,
  date,
}: Machine): string {
  const seen = [megahertz ? `${megahertz} MHz` : '', steal === undefined ? '' : `steal ${(steal * 100).toFixed(1)} %`]
  const parts = [processor, `${processors} processors`, `Node ${node}`, `commit ${of}`, `load ${load} before`, ...seen]
  return [...parts, date.slice(0, 10)].filter((part) => part !== '').join(', ')
}

/** Begins to watch what the host takes from this machine. @returns its share so far */
export function watchSteal(): () => number | undefined {
  const [stolen, began] = [stolenSeconds(), performance.now()]
  return () => {
    const share = (stolenSeconds() - stolen) / cpus().length / ((performance.now() - began) / 1000)
    return Number.isFinite(share) ? share : undefined
  }
}

/** A machine with less than this to do is quiet (busy processes); a minute after a run it is. */
export const QUIET = 0.7
const LOOKS = 36

/** What is seen of this machine, and the time between two looks. */
const SEEN = { commit, load: loadNow, pause: () => delay(5_000) as Promise<unknown> }

/** Waits until nobody else works here, three minutes at most. @throws Error when the code is not that of a commit, or others go on */
export async function mustBeFit(say: (text: string) => void, seen = SEEN): Promise<void> {
  if (process.env.BENCH_ENTRIES) throw new Error('BENCH_ENTRIES is to try tables: what they tell of is more')
  const of = seen.commit()
  if (of.endsWith(CHANGED))
    throw new Error(`the code is not that of ${of.replace(CHANGED, '')}: commit it, then publish`)
  for (let look = 1; seen.load() > QUIET; look++, await seen.pause()) {
    if (look > LOOKS) throw new Error(`others work here: load ${seen.load()}; figures would be theirs, too`)
    say(`waiting for a quiet machine: load ${seen.load()}`)
  }
}
