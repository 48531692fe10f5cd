import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { hasExited } from '../async/has-exited.ts'
import { StartError } from '../errors/common-errors.ts'
import type { ProcessReport, ProcessCommand } from '../channel/process-messages.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import { SHUTDOWN_GRACE_MS } from '../worker/drain.ts'
import { createWatchdog, getMainTask } from '../worker/watchdog.ts'

/** The message that starts a service process. */
export type StartMessage = Omit<ProcessCommand & { kind: 'start' }, 'kind' | 'isSuccessor'>

/** A service process that is ready. */
export interface ReadyProcess {
  readonly process: ChildProcess
  readonly ready: ProcessReport & { kind: 'ready' }
}

// Settings of glibc's allocator. All threads share its memory instead of one arena each, which saves 10 MB under load.
// With fixed thresholds, memory that V8's compiler frees returns to the system, which saves 7 MB. With thresholds that
// the allocator adapts by itself, that memory does not return.
const MALLOC_ENV = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: String(1_024 * 1_024),
  MALLOC_MMAP_THRESHOLD_: String(4 * 1_024 * 1_024),
}
const ENTRY_FILE = fileURLToPath(new URL('./service-process.ts', import.meta.url))
// Main may load or build data for longer than a serving thread may be blocked: by this factor of `watchdogTimeout`.
const MAIN_TIMEOUT_FACTOR = 6
const PING_INTERVAL_MS = 100
// Minimum for a semi-space of main, which is half of its young heap (MB). Data that main loads at its start stays in
// use, so a semi-space of 1 MB would cause repeated copies of it.
const MIN_MAIN_SEMI_SPACE_MB = 8
// Time after `shutdownTimeout` in which the service closes its parts (ms). Then its process is killed.
export const EXIT_TIMEOUT_MS = 5_000

/** Returns the options of V8 for main. */
function getHeapOptions(config: ServiceConfig, heapLimit: number | undefined): string[] {
  const options = [`--max-semi-space-size=${getSemiSpace(config)}`]
  return heapLimit === undefined ? options : [...options, `--max-old-space-size=${heapLimit}`]
}

/** Returns `--max-semi-space-size` for main (MB). Serving threads use the setting itself. */
const getSemiSpace = ({ threads, maxSemiSpaceSize }: ServiceConfig) =>
  threads === '0' ? maxSemiSpaceSize : Math.max(maxSemiSpaceSize, MIN_MAIN_SEMI_SPACE_MB)

export interface LaunchOptions {
  readonly stopped: AbortSignal
  /** Resolves with the complete start message when that is known. Default: the message is complete. */
  readonly complete?: Promise<StartMessage>
  /** Limit of V8's old space on main (MB). Default: V8's own. */
  readonly heapLimit: number | undefined
  /** Sends the listening socket of a thread. */
  sendListener(child: ChildProcess, index: number): void
  /** Ends the predecessor when the process has loaded its code. Default: there is none. */
  readonly takeOver?: () => Promise<void>
}

/**
 * Forks a process, sends it the start message when that is complete, and waits until the process is ready. The process
 * has a separate session, so that Ctrl-C reaches the supervisor only.
 */
export function launch(
  start: StartMessage,
  { stopped, complete = Promise.resolve(start), heapLimit, sendListener, takeOver }: LaunchOptions,
): Promise<ReadyProcess> {
  stopped.throwIfAborted()
  const child = fork(ENTRY_FILE, [], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [...process.execArgv, ...getHeapOptions(start.config, heapLimit)],
    env: { ...MALLOC_ENV, ...process.env },
    serialization: 'advanced',
  })
  const send = (command: ProcessCommand) => void (child.connected && child.send(command))
  const end = () => void endProcess(child, start.config.shutdownTimeout, SHUTDOWN_GRACE_MS)
  stopped.addEventListener('abort', end)
  const running = new Promise<ReadyProcess>((resolve, reject) => {
    complete.then(
      (message) => send({ kind: 'start', ...message, isSuccessor: takeOver !== undefined }),
      (error) => {
        reject(error)
        end()
      },
    )
    // This listener remains for the life of the process, because a message that cannot be delivered is an 'error' too.
    child.on('error', reject)
    child.on('message', (message: ProcessReport) => {
      if (message.kind === 'ready') resolve({ process: child, ready: message })
      else if (message.kind === 'failed') reject(new StartError(message.code, message.message))
      else if (message.kind === 'getListener') sendListener(child, message.index)
      else if (message.kind === 'loaded') void takeOver!().then(() => send({ kind: 'open' }))
    })
    child.once('exit', (code, signal) => {
      reject(
        new StartError(
          'PROCESS_EXITED',
          `${start.name}: the process exited (${signal ?? `exit code ${code}`}) before it was ready`,
        ),
      )
    })
  })
  return running.finally(() => stopped.removeEventListener('abort', end))
}

/** Pings the main thread of a process repeatedly, and kills the process if it does not reply. */
export function watchMain(child: ChildProcess, { watchdogTimeout }: ServiceConfig, onStuck: () => void): void {
  const watchdog = createWatchdog(1, watchdogTimeout * MAIN_TIMEOUT_FACTOR)
  watchdog
    .watch(0, () => {
      onStuck()
      child.kill('SIGKILL')
    })
    .markStarted(getMainTask(child.pid!))
  let isPinged = false
  const timer = setInterval(() => {
    if (isPinged || !child.connected) return
    isPinged = true
    child.send({ kind: 'checkAlive' } satisfies ProcessCommand)
  }, PING_INTERVAL_MS)
  child.on('message', (message: ProcessReport) => {
    if (message.kind !== 'alive') return
    isPinged = false
    Atomics.add(watchdog.heartbeats, 0, 1)
  })
  const end = () => {
    clearInterval(timer)
    watchdog.stop()
  }
  // A process that has disconnected is ending, and no longer replies.
  child.once('disconnect', end).once('exit', end)
  if (!child.connected) end()
}

/**
 * Requests a process to stop, and kills it if it does not. Resolves with true if it ended cleanly.
 * @param grace time in which the process still accepts connections (ms)
 */
export async function endProcess(child: ChildProcess, shutdownTimeout: number, grace: number): Promise<boolean> {
  if (hasExited(child)) return child.exitCode === 0
  // Not `events.once`, which would fail on the 'error' of a message that cannot be delivered.
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (child.connected) child.send({ kind: 'stop', grace } satisfies ProcessCommand)
  const timer = setTimeout(() => child.kill('SIGKILL'), grace + shutdownTimeout + EXIT_TIMEOUT_MS)
  const code = await exit
  clearTimeout(timer)
  return code === 0
}
