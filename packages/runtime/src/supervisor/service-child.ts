import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createBackOff } from '../async/retry.ts'
import { StartError } from '../errors/common-errors.ts'
import type { ProcessReport, ProcessCommand } from '../channel/process-messages.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import { print } from '../logging/cli-output.ts'
import { createWatchdog, getMainTask } from '../worker/watchdog.ts'

type ChildStart = Omit<ProcessCommand & { kind: 'start' }, 'kind' | 'holdsLogLines'>

type StartMessage = Omit<ProcessCommand & { kind: 'start' }, 'kind'>

/** A service process. The supervisor restarts it whenever it dies. */
export interface ServiceChild {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly threads: number
  readonly notes: readonly string[]
  /** Lets the process print its log lines. Call this after the table of running services is printed. */
  releaseLog(): void
  /** Drains and ends the process. Resolves with true if it ended cleanly. */
  stop(): Promise<boolean>
}

interface ReadyProcess {
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
const EXIT_TIMEOUT_MS = 5_000

/**
 * Starts a service process. Aborting `stopped` ends the process while it starts, and prevents restarts. Once it is
 * ready, `stop` of the result ends it.
 * @param settled settings that are known later; the process loads the code of the runtime meanwhile
 * @param holdsLogLines true if the log lines of the process wait until `releaseLog`
 * @throws StartError if the first start fails; later starts are retried forever
 */
export async function startChild(
  start: ChildStart,
  stopped: AbortSignal,
  settled: Promise<Partial<ServiceConfig>> = Promise.resolve({}),
  holdsLogLines = false,
): Promise<ServiceChild> {
  const { name } = start
  const report = (text: string) => print(`${name}: ${text}\n`)
  const delays = createBackOff()
  const config = { ...start.config }
  const message = { ...start, config, holdsLogLines }
  const first = settled.then((late) => {
    Object.assign(config, late)
    return message
  })
  let current: ReadyProcess = await launch(message, stopped, first)
  // A service that chose a free port has the same port after a restart.
  config.port = Number(new URL(current.ready.url).port)
  let timer: NodeJS.Timeout | undefined
  let restarting: Promise<void> | undefined
  watch(current)

  function watch(running: ReadyProcess): void {
    const { process: child } = running
    watchMain(child, config.watchdogTimeout * MAIN_TIMEOUT_FACTOR, () =>
      report(`process ${child.pid} does not respond`),
    )
    function onExit(code: number | null, signal: string | null): void {
      if (stopped.aborted) return
      report(`process ${child.pid} exited (${signal ?? `exit code ${code}`}); the supervisor restarts it`)
      restart()
    }
    if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode)
    else child.once('exit', onExit)
  }

  function restart(): void {
    timer = setTimeout(() => (restarting = startAgain()), delays.next())
  }

  async function startAgain(): Promise<void> {
    try {
      current = await launch(message, stopped)
      report(`restarted as process ${current.process.pid}`)
      watch(current)
    } catch (error) {
      if (stopped.aborted) return
      report((error as Error).message)
      restart()
    }
  }

  return {
    name,
    get url() {
      return current.ready.url
    },
    get pid() {
      return current.process.pid!
    },
    get threads() {
      return current.ready.threads
    },
    get notes() {
      return current.ready.notes
    },
    releaseLog() {
      message.holdsLogLines = false
      if (current.process.connected) current.process.send({ kind: 'tablePrinted' } satisfies ProcessCommand)
    },
    async stop() {
      clearTimeout(timer)
      await restarting
      return endProcess(current.process, config.shutdownTimeout)
    },
  }
}

/** Returns `--max-semi-space-size` for main (MB). Serving threads use the setting itself. */
const getSemiSpace = ({ threads, maxSemiSpaceSize }: ServiceConfig) =>
  threads === '0' ? maxSemiSpaceSize : Math.max(maxSemiSpaceSize, MIN_MAIN_SEMI_SPACE_MB)

/**
 * Forks a process, sends it the start message when that is complete, and waits until the process is ready. The process
 * has a separate session, so that Ctrl-C reaches the supervisor only.
 * @param complete resolves with the complete start message; default: `start`
 */
function launch(
  start: StartMessage,
  stopped: AbortSignal,
  complete: Promise<StartMessage> = Promise.resolve(start),
): Promise<ReadyProcess> {
  stopped.throwIfAborted()
  const child = fork(ENTRY_FILE, [], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [...process.execArgv, `--max-semi-space-size=${getSemiSpace(start.config)}`],
    env: { ...MALLOC_ENV, ...process.env },
    serialization: 'advanced',
  })
  const end = () => void endProcess(child, start.config.shutdownTimeout)
  stopped.addEventListener('abort', end)
  const running = new Promise<ReadyProcess>((resolve, reject) => {
    complete.then(
      (message) => void (child.connected && child.send({ kind: 'start', ...message } satisfies ProcessCommand)),
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

/** Pings the main thread of a process repeatedly, and kills the process after `timeout` ms without a reply. */
function watchMain(child: ChildProcess, timeout: number, onStuck: () => void): void {
  const watchdog = createWatchdog(1, timeout)
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

/** Requests a process to stop, and kills it if it does not. Resolves with true if it ended cleanly. */
async function endProcess(child: ChildProcess, shutdownTimeout: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode === 0
  // Not `events.once`, which would fail on the 'error' of a message that cannot be delivered.
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (child.connected) child.send({ kind: 'stop' } satisfies ProcessCommand)
  const timer = setTimeout(() => child.kill('SIGKILL'), shutdownTimeout + EXIT_TIMEOUT_MS)
  const code = await exit
  clearTimeout(timer)
  return code === 0
}
