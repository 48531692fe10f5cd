import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createBackOff } from './back-off.ts'
import { StartError } from '../http/common-errors.ts'
import type { ServiceConfig, ProcessReport, ProcessCommand } from './process-messages.ts'
import { print } from './cli-output.ts'
import { createWatchdog, getMainTask } from './watchdog.ts'

type ChildStart = Omit<ProcessCommand & { kind: 'start' }, 'kind' | 'isHeld'>

type StartMessage = Omit<ProcessCommand & { kind: 'start' }, 'kind'>

/** A service process that is kept running: whenever it dies, another takes its place. */
export interface ServiceChild {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly threads: number
  readonly notes: readonly string[]
  /** The table of the start is shown: what it logs may follow. */
  releaseLog(): void
  /** Drains and ends it; resolves with whether it ended cleanly. */
  stop(): Promise<boolean>
}

interface ReadyProcess {
  readonly process: ChildProcess
  readonly ready: ProcessReport & { kind: 'ready' }
}

// For glibc's allocator. Threads share its memory instead of an arena each: 10 MB less under load. What V8's compiler frees
// goes back to the system, as it does not once the allocator adapts its thresholds by itself: 7 MB less.
const MALLOC_ENV = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: String(1_024 * 1_024),
  MALLOC_MMAP_THRESHOLD_: String(4 * 1_024 * 1_024),
}
const ENTRY_FILE = fileURLToPath(new URL('./service-process.ts', import.meta.url))
// Main may load or build for longer than a serving thread may: so many times `watchdogTimeout`.
const MAIN_TIMEOUT_FACTOR = 6
const PING_INTERVAL_MS = 100
// Half of main's young heap (MB), at least: what it loads at its start outlives that, and with 1 is copied and copied again.
const MIN_MAIN_SEMI_SPACE_MB = 8
// Beyond the service's own shutdownTimeout: for closing its parts.
const EXIT_TIMEOUT_MS = 5_000

/**
 * Starts a service process. `stopped` ends it while it starts; once it is ready, its own `stop` does.
 * @param settled what of its configuration comes later: it loads its code meanwhile
 * @param holdsLines whether its log waits until `shown`
 * @throws StartError when the first start fails; later ones are tried again for ever
 */
export async function startChild(
  start: ChildStart,
  stopped: AbortSignal,
  settled: Promise<Partial<ServiceConfig>> = Promise.resolve({}),
  holdsLines = false,
): Promise<ServiceChild> {
  const { name } = start
  const report = (text: string) => print(`${name}: ${text}\n`)
  const delays = createBackOff()
  const config = { ...start.config }
  const message = { ...start, config, isHeld: holdsLines }
  const first = settled.then((late) => {
    Object.assign(config, late)
    return message
  })
  let current: ReadyProcess = await launch(message, stopped, first)
  // A service that chose its port keeps it when it comes back.
  config.port = Number(new URL(current.ready.url).port)
  let timer: NodeJS.Timeout | undefined
  let restarting: Promise<void> | undefined
  watch(current)

  function watch(running: ReadyProcess): void {
    const { process: child } = running
    watchMain(child, config.watchdogTimeout * MAIN_TIMEOUT_FACTOR, () => report(`process ${child.pid} is stuck`))
    function onExit(code: number | null, signal: string | null): void {
      if (stopped.aborted) return
      report(`process ${child.pid} died (${signal ?? `exit code ${code}`}); starting another`)
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
      report(`is back as process ${current.process.pid}`)
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
      message.isHeld = false
      if (current.process.connected) current.process.send({ kind: 'shown' } satisfies ProcessCommand)
    },
    async stop() {
      clearTimeout(timer)
      await restarting
      return endProcess(current.process, config.shutdownTimeout)
    },
  }
}

/** Of main; serving threads begin with what is told. */
const getSemiSpace = ({ threads, maxSemiSpaceSize }: ServiceConfig) =>
  threads === '0' ? maxSemiSpaceSize : Math.max(maxSemiSpaceSize, MIN_MAIN_SEMI_SPACE_MB)

/**
 * Forks a process, tells it to start once that is whole, and waits until it is ready. It has a session of its own, so that
 * Ctrl-C reaches the supervisor alone.
 */
function launch(
  start: StartMessage,
  stopped: AbortSignal,
  whole: Promise<StartMessage> = Promise.resolve(start),
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
    whole.then(
      (message) => void (child.connected && child.send({ kind: 'start', ...message } satisfies ProcessCommand)),
      (error) => {
        reject(error)
        end()
      },
    )
    // Stays for the process's life: a message that can no longer be delivered is an 'error' too.
    child.on('error', reject)
    child.on('message', (message: ProcessReport) => {
      if (message.kind === 'ready') resolve({ process: child, ready: message })
      else if (message.kind === 'failed') reject(new StartError(message.code, message.message))
    })
    child.once('exit', (code, signal) => {
      reject(
        new StartError(
          'PROCESS_EXITED',
          `${start.name}: the process ended (${signal ?? `exit code ${code}`}) before it was ready`,
        ),
      )
    })
  })
  return running.finally(() => stopped.removeEventListener('abort', end))
}

/** Asks a process again and again whether its main thread is alive; kills it if it has not said so for `timeout` ms. */
function watchMain(child: ChildProcess, timeout: number, onStuck: () => void): void {
  const watchdog = createWatchdog(1, timeout)
  watchdog
    .watch(0, () => {
      onStuck()
      child.kill('SIGKILL')
    })
    .start(getMainTask(child.pid!))
  let isPinged = false
  const timer = setInterval(() => {
    if (isPinged || !child.connected) return
    isPinged = true
    child.send({ kind: 'ask' } satisfies ProcessCommand)
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
  // From its disconnection on it is ending, and has its time for that.
  child.once('disconnect', end).once('exit', end)
  if (!child.connected) end()
}

/** Tells a process to stop, and kills it if it does not. Resolves with whether it ended cleanly. */
async function endProcess(child: ChildProcess, shutdownTimeout: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode === 0
  // Not events.once: it would fail on the 'error' of a message that no longer arrives.
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (child.connected) child.send({ kind: 'stop' } satisfies ProcessCommand)
  const timer = setTimeout(() => child.kill('SIGKILL'), shutdownTimeout + EXIT_TIMEOUT_MS)
  const code = await exit
  clearTimeout(timer)
  return code === 0
}
