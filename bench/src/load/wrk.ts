import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoadGenerator, LoadPlan, LoadResult } from './load.ts'
import { mustSuit } from './common/must-suit.ts'
import { limitOf } from './common/own-process.ts'
import { pinned } from '../processes.ts'
import { which } from './wrk/programs.ts'
import { MARK, wrkScript, type WrkReport } from './wrk/script.ts'

/** Replies that take longer (s) are time-outs. wrk keeps 8 bytes a microsecond of it, so 40 MB. */
const LONGEST = 5

/**
 * wrk, where it is installed: a judge from outside, written in C. Closed loop only; every reply's status and body are
 * checked. Its percentiles are "corrected": when a reply took longer than the mean time between replies, wrk adds the
 * ones it believes it missed, so they do not compare with those of other closed loops. Seconds are whole, rounded up.
 */
export function createWrk(): LoadGenerator {
  return {
    name: 'wrk',
    loops: ['closed'],
    available: async () => (await which('wrk')) !== undefined,
    run,
  }
}

async function run(plan: LoadPlan): Promise<LoadResult> {
  mustSuit(plan, 'wrk')
  const folder = await mkdtemp(join(tmpdir(), 'load-wrk-'))
  try {
    const script = join(folder, 'plan.lua')
    await writeFile(script, wrkScript(plan))
    if (plan.warmUp > 0) await fire(plan, plan.warmUp, script)
    const report = await fire(plan, plan.duration, script)
    return report ? toResult(plan, report) : refused(plan)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** One run; nothing when nobody took the connections, which ends wrk before it has begun. */
async function fire(plan: LoadPlan, seconds: number, script: string): Promise<WrkReport | undefined> {
  const duration = Math.max(1, Math.ceil(seconds))
  const options = ['-t', '1', '-c', plan.connections, '-d', `${duration}s`, '--timeout', `${LONGEST}s`]
  const [command, ...args] = pinned(plan.pin, ['wrk', ...options.map(String), '-s', script, plan.url])
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const deadline = setTimeout(() => child.kill('SIGKILL'), limitOf(plan))
  let output = ''
  child.stdout.on('data', (text) => (output += text))
  child.stderr.on('data', (text) => (output += text))
  const [code, signal] = await once(child, 'close').finally(() => clearTimeout(deadline))
  const report = output.split('\n').find((line) => line.startsWith(MARK))
  if (report) return JSON.parse(report.slice(MARK.length)) as WrkReport
  if (output.includes('unable to connect')) return undefined
  throw new Error(`wrk gave no result (${signal ?? `exit ${code}`}) ${output}`.trim())
}

function toResult({ connections }: LoadPlan, report: WrkReport): LoadResult {
  const { requests, duration, cpu, connect, read, write, timeout, wrong, ...latency } = report
  const seconds = duration / 1e6
  const errors = connect + read + write + timeout
  return {
    generator: 'wrk',
    requests,
    seconds,
    perSecond: requests / seconds,
    latency,
    resolution: 1,
    // A server that never answers is no error to wrk.
    errors: requests === 0 ? Math.max(errors, connections) : errors,
    wrong,
    cpu: cpu / seconds,
  }
}

function refused({ connections }: LoadPlan): LoadResult {
  const latency = { p50: 0, p75: 0, p90: 0, p99: 0, p999: 0, max: 0 }
  const nothing = { requests: 0, seconds: 0, perSecond: 0, wrong: 0, cpu: 0 }
  return { generator: 'wrk', ...nothing, latency, resolution: 1, errors: connections }
}
