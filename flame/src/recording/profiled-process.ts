import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { toPinnedCommand, PINS } from '@influencer-stats/bench/processes'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { REPORT_PREFIX, type ProcessReport, type ProfileWindow } from './profile-control.ts'

/** A running process that can be profiled. */
export interface ProfiledProcess {
  readonly url: string
  readonly pid: number
  /** Profiles all threads of the process. Resolves with their names once the profiles are written. */
  profile(window: ProfileWindow): Promise<readonly string[]>
  /** Stops the process and waits for its exit. Idempotent. @throws Error if its exit code is not 0 */
  stop(): Promise<void>
}

/**
 * Arguments of Node in profiled processes. They turn off what makes the samples of a function count for its caller:
 * inlining, and the replacement of a running loop by optimized code. A profile does not know such code if it is older
 * than the profile.
 */
export const NODE_FLAGS = ['--no-turbo-inlining', '--no-maglev-inlining', '--no-use-osr']

/** Starts a script that calls `handleProfileRequests` and reports that it is ready. */
export const startProfiled = (script: string, args: readonly string[]): Promise<ProfiledProcess> =>
  startReporting(process.execPath, [...NODE_FLAGS, script, ...args])

/**
 * Starts a command that reads profiling requests from stdin and reports on stderr, and waits until it is ready. It runs
 * on one processor if possible. The reason is that V8's sampler is a thread that interrupts the profiled thread.
 * Between two virtual processors this takes microseconds. A system call that begins in this time wrongly gets the
 * sample. In a test, such a call had 83 % of the samples instead of 20 %.
 */
export async function startReporting(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<ProfiledProcess> {
  const [program, ...rest] = toPinnedCommand(PINS.server, [command, ...args])
  const child = spawn(program!, rest, { cwd: options.cwd, env: { ...process.env, ...options.env }, stdio: 'pipe' })
  // Reads and drops stdout, because a full pipe would block a synchronous logger.
  child.stdout.resume()
  child.stdin.on('error', () => {})
  const exit = once(child, 'exit')
  let nextReport = Promise.withResolvers<ProcessReport>()
  let stderrText = ''
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith(REPORT_PREFIX)) nextReport.resolve(JSON.parse(line.slice(REPORT_PREFIX.length)))
    else stderrText += `${line}\n`
  })
  const ended = exit.then(([code, signal]) => {
    nextReport.reject(new Error(`the profiled process ended (${signal ?? `exit code ${code}`})\n${stderrText}`))
    return code as number | null
  })
  nextReport.promise.catch(() => {})

  async function waitForReport<K extends ProcessReport['kind']>(kind: K): Promise<ProcessReport & { kind: K }> {
    const message = await nextReport.promise
    if (message.kind !== kind) throw new Error(`the profiled process reported ${message.kind}, not ${kind}`)
    if (!hasExited(child)) nextReport = Promise.withResolvers()
    nextReport.promise.catch(() => {})
    return message as ProcessReport & { kind: K }
  }

  async function end(): Promise<void> {
    child.stdin.end()
    if ((await ended) !== 0) throw new Error(`the profiled process failed\n${stderrText}`)
  }
  let stopped: Promise<void> | undefined

  const { url } = await waitForReport('ready')
  return {
    url,
    pid: child.pid!,
    async profile(window) {
      child.stdin.write(`${JSON.stringify(window)}\n`)
      return (await waitForReport('profiled')).threads
    },
    stop: () => (stopped ??= end()),
  }
}
