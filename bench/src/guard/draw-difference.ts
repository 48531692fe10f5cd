import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runCountedAlternating } from '../load/alternating.ts'
import { startRow } from '../rounds/start-row.ts'
import { getProcessorSeconds, readProfileClock } from '../processes.ts'
import { OWN_CHECKOUT } from '../targets/service.ts'
import type { TargetProcess } from '../targets/target.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import type { GuardRow } from './guard-rows.ts'
import { createAlternatingLoad, isLoadedInTurn } from './measure-pairs.ts'

/** Seconds of load of each service that its profile counts, and before them. */
const DURATIONS = { duration: 6, warmUp: 2 }
const SAMPLING_INTERVAL_US = 500

const FLAME_SCRIPT = join(OWN_CHECKOUT, 'flame/src/cli.ts')
const FLAME_PACKAGES = join(OWN_CHECKOUT, 'flame/node_modules')

const run = promisify(execFile)

/** A load on a profiled process, on the monotonic clock (us). */
interface ProfiledLoad {
  readonly from: number
  readonly to: number
  /** Requests, or other units of the row. */
  readonly units: number
}

/** A CPU profile of a thread, and its load. */
export interface ProfiledRow extends ProfiledLoad {
  readonly file: string
}

/** The part of V8's CPU profiles that is read here. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string } }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
  readonly startTime: number
}

/** Counts the samples with work in a time. */
function countWork({ nodes, samples, timeDeltas, startTime }: CpuProfile, from: number, to: number): number {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id))
  let [time, count] = [startTime, 0]
  for (const [i, id] of samples.entries()) {
    time += timeDeltas[i]!
    if (time >= from && time <= to && !idle.has(id)) count++
  }
  return count
}

/**
 * Finds the profile of the busiest thread of a process in a time: the serving thread.
 * @throws Error if no thread of the process has a sample there
 */
export function findBusiestProfile(folder: string, pid: number, from: number, to: number): string {
  // CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile
  const names = readdirSync(folder).filter((name) => name.split('.')[3] === String(pid))
  const found = names.map((name) => {
    const file = join(folder, name)
    return { file, work: countWork(JSON.parse(readFileSync(file, 'utf8')), from, to) }
  })
  const busiest = found.toSorted((a, b) => b.work - a.work)[0]
  if (!busiest || busiest.work === 0) throw new Error(`process ${pid} left no CPU profile of its load`)
  return busiest.file
}

/** Starts the service of a row so that each of its threads writes a profile into a folder at its exit. */
function startProfiled(row: GuardRow, checkout: string, folder: string): Promise<TargetProcess> {
  const flags = `--cpu-prof --cpu-prof-interval=${SAMPLING_INTERVAL_US} --cpu-prof-dir=${JSON.stringify(folder)}`
  // The environment suffices, so any commit can be profiled as it is.
  return startRow(row.row, checkout, { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${flags}` })
}

const toProfile = (folder: string, { pid }: TargetProcess, load: ProfiledLoad): ProfiledRow => ({
  file: findBusiestProfile(folder, pid, load.from, load.to),
  ...load,
})

/** Profiles both services while they are loaded in turn, so that a slower machine slows both. */
async function profileTogether(row: GuardRow, checkouts: readonly string[], folder: string, durations = DURATIONS) {
  const running: TargetProcess[] = []
  const loads: ProfiledLoad[] = []
  try {
    for (const checkout of checkouts) running.push(await startProfiled(row, checkout, folder))
    const plan = { ...createAlternatingLoad(row, running), warmUpSlices: 0 }
    const toSlices = (seconds: number) => Math.ceil((seconds * 1000) / plan.sliceMs)
    await runCountedAlternating({ ...plan, slices: toSlices(durations.warmUp) })
    const from = readProfileClock()
    const requests = await runCountedAlternating({ ...plan, slices: toSlices(durations.duration) })
    const to = readProfileClock()
    loads.push(...requests.map((units) => ({ from, to, units })))
  } finally {
    await Promise.all(running.map(({ stop }) => stop()))
  }
  return loads.map((load, i) => toProfile(folder, running[i]!, load))
}

/** Profiles one service during a round of its row. */
async function profileRound(row: GuardRow, checkout: string, folder: string, durations = DURATIONS) {
  const running = await startProfiled(row, checkout, folder)
  const { pid, extraPids = [] } = running
  let load: ProfiledLoad
  try {
    const before = getProcessorSeconds(pid, ...extraPids)
    const from = readProfileClock()
    const metrics = await row.row.round(running, { ...durations, checkout })
    const to = readProfileClock()
    // The metric is processor time per unit (us). The round also does units that it does not count, in its warm-up.
    const units = ((getProcessorSeconds(pid, ...extraPids) - before) * 1e6) / (metrics[row.metric!] as number)
    load = { from, to, units }
  } finally {
    await running.stop()
  }
  return toProfile(folder, running, load)
}

/** The profiles of this checkout and of the base. */
async function profileBoth(row: GuardRow, checkouts: readonly string[], folder: string, durations = DURATIONS) {
  if (isLoadedInTurn(row)) return profileTogether(row, checkouts, folder, durations)
  const profiles: ProfiledRow[] = []
  for (const checkout of checkouts) profiles.push(await profileRound(row, checkout, folder, durations))
  return profiles
}

/**
 * Profiles a row in both checkouts once more and writes a differential flame graph.
 * @param checkouts the folders of this commit and of the base
 * @param file the page
 * @returns its path, the totals, and the functions with the largest growth, a line each
 * @throws Error if the row has no profile, or if the packages of flame are not installed
 */
export async function drawDifference(
  row: GuardRow,
  checkouts: readonly string[],
  file: string,
  durations = DURATIONS,
): Promise<string[]> {
  if (row.isProfiled === false) throw new Error('the profile of a service under load does not explain its metric')
  if (!existsSync(FLAME_PACKAGES))
    throw new Error("flame's packages are not installed; `pnpm flame --help` installs them")
  using folder = createTemporaryFolder()
  const [own, base] = await profileBoth(row, checkouts, folder.path, durations)
  const args = [
    [FLAME_SCRIPT, 'difference', own!.file, base!.file, '--output', file],
    ['--title', `${row.name}: CPU of this checkout and of the base`],
    ['--unit', row.unit ?? 'request', '--requests', `${own!.units},${base!.units}`],
    ['--own-window', `${own!.from},${own!.to}`, '--base-window', `${base!.from},${base!.to}`],
    ['--own-root', realpathSync(checkouts[0]!), '--base-root', realpathSync(checkouts[1]!)],
  ]
  const { stdout } = await run(process.execPath, args.flat())
  return stdout.trimEnd().split('\n')
}
