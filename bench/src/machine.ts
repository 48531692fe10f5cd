import { execFileSync, spawnSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { formatMachineCosts, type MachineCosts } from './machine-costs.ts'
import { getStolenSeconds } from './processes.ts'

/** The machine and the commit of a result, without the name of the machine. */
export interface Machine {
  readonly processor: string
  readonly processors: number
  readonly memoryGiB: number
  readonly platform: string
  readonly node: string
  readonly commit: string
  /** Load average of the last minute (busy processes). */
  readonly load: number
  readonly megahertz?: number
  /** Share of the processors' time that the host gave to other machines during the measurement; absent if unknown. */
  readonly steal?: number
  readonly date: string
  /** Absent in older results, and if the results are not published. */
  readonly costs?: MachineCosts
}

/** Paths whose changes are not changes of the measured code: what publishing writes, the code that writes it, and tests. */
const UNMEASURED_PATHS = [
  'bench/results',
  'bench/report.html',
  '*.md',
  'flame/*/v[0-9]*',
  'bench/src/report',
  'bench/src/sources',
  // They only select tables and graphs, compare two rows, and describe the machine.
  'bench/src/cli.ts',
  'bench/src/run',
  'bench/src/machine.ts',
  'flame/src/cli.ts',
  'flame/src/stale-graphs.ts',
  // Checks of the project.
  '.ci',
  'chaos',
  'vitest.config.ts',
  '*/test/*',
  // Configurations of other programs, for an installation.
  'deploy',
  // Only a rescue runs it.
  'packages/log/src/successor.ts',
]
/** Paths that only the tables of one service run. */
const SERVICE_PATHS: Readonly<Record<string, readonly string[]>> = {
  cluster: ['bench/src/load/nats-puts.ts'],
  sse: [
    'bench/src/load/fleet.ts',
    'bench/src/load/fleet/fleet-*.ts',
    'bench/src/load/fleet/publishers.ts',
    'bench/src/load/fleet/*-scanner.ts',
    'bench/src/rounds/fleet-round.ts',
  ],
}
const CHANGES_SUFFIX = '+changes'

const toExcluded = (paths: readonly string[]) => paths.map((path) => `:(top,exclude)${path}`)

/** Paths whose changes are not changes of what the tables of a service measure. */
const getUnmeasured = (service: string): string[] => [
  ...UNMEASURED_PATHS,
  ...Object.entries(SERVICE_PATHS).flatMap(([owner, paths]) => (owner === service ? [] : paths)),
]

function readCommit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  try {
    const hash = git('rev-parse', '--short=12', 'HEAD')
    return git('status', '--porcelain', '--', ':/', ...toExcluded(UNMEASURED_PATHS)) === ''
      ? hash
      : `${hash}${CHANGES_SUFFIX}`
  } catch {
    return 'unknown'
  }
}

/**
 * True if two commits have the same code for the tables of a service: only published files differ. Uncommitted code and
 * unknown commits differ from all others.
 * @param other this checkout, if absent
 */
export function hasSameCode(service: string, commit: string, other = readCommit()): boolean {
  if (![commit, other].every((one) => /^[0-9a-f]+$/.test(one))) return false
  const args = ['diff', '--quiet', commit, other, '--', ':/', ...toExcluded(getUnmeasured(service))]
  return commit === other || spawnSync('git', args, { stdio: 'ignore' }).status === 0
}

const readLoad = () => Math.round(loadavg()[0]! * 100) / 100

/** Factor by which the machine is slower than a quiet one: its busy processes per processor, at least 1. */
export const getSlowness = (): number => Math.max(1, loadavg()[0]! / cpus().length)

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    commit: readCommit(),
    load: readLoad(),
    megahertz: cpus()[0]?.speed ?? 0,
    date: new Date().toISOString(),
  }
}

/** The line below each table. */
export function formatMachine({
  processor,
  processors,
  node,
  commit: revision,
  load,
  megahertz,
  steal,
  date,
  costs,
}: Machine): string {
  const extras = [megahertz ? `${megahertz} MHz` : '', steal === undefined ? '' : `steal ${(steal * 100).toFixed(1)} %`]
  const parts = [
    processor,
    `${processors} processors`,
    `Node ${node}`,
    `commit ${revision}`,
    `load ${load} before`,
    ...extras,
  ]
  return [...parts, ...(costs ? formatMachineCosts(costs) : []), date.slice(0, 10)]
    .filter((part) => part !== '')
    .join(', ')
}

/**
 * Watches the processor time that the host gives to other machines (steal).
 * @returns a function that returns its share since the start; undefined if the platform does not report it
 */
export function watchSteal(): () => number | undefined {
  const [stolen, began] = [getStolenSeconds(), performance.now()]
  return () => {
    const share = (getStolenSeconds() - stolen) / cpus().length / ((performance.now() - began) / 1000)
    return Number.isFinite(share) ? share : undefined
  }
}

/** Maximum load of a quiet machine (busy processes). A machine is quiet about a minute after a run. */
export const MAX_QUIET_LOAD = 0.7
const MAX_CHECKS = 36

/** Functions that read the state of this machine, and the pause between two checks. Tests replace them. */
const MACHINE_PROBES = { commit: readCommit, load: readLoad, pause: () => delay(5_000) as Promise<unknown> }

/**
 * Waits until the machine is quiet, up to three minutes.
 * @throws Error if the code is not committed, or if the machine stays busy
 */
export async function assertQuietMachine(print: (text: string) => void, probes = MACHINE_PROBES): Promise<void> {
  if (process.env.BENCH_ENTRIES) throw new Error('BENCH_ENTRIES is for trials: its results cannot be published')
  const revision = probes.commit()
  if (revision.endsWith(CHANGES_SUFFIX))
    throw new Error(`the code differs from commit ${revision.replace(CHANGES_SUFFIX, '')}: commit it, then publish`)
  for (let checks = 1; probes.load() > MAX_QUIET_LOAD; checks++, await probes.pause()) {
    if (checks > MAX_CHECKS) throw new Error(`the machine is busy: load ${probes.load()}`)
    print(`waiting for a quiet machine: load ${probes.load()}`)
  }
}
