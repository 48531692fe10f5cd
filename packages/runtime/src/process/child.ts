import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { backOff } from './back-off.ts'
import { StartError } from '../http/errors.ts'
import type { Config, FromProcess, ToProcess } from './messages.ts'
import { say } from './say.ts'
import { createWatchdog, mainTaskOf } from './watchdog.ts'

type Start = Omit<ToProcess & { kind: 'start' }, 'kind' | 'isHeld'>

type Whole = Omit<ToProcess & { kind: 'start' }, 'kind'>

/** A service process that is kept running: whenever it dies, another takes its place. */
export interface Child {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly threads: number
  readonly notes: readonly string[]
  /** The table of the start is shown: what it logs may follow. */
  shown(): void
  /** Drains and ends it; resolves with whether it ended cleanly. */
  stop(): Promise<boolean>
}

interface Running {
  readonly process: ChildProcess
  readonly ready: FromProcess & { kind: 'ready' }
}

// For glibc's allocator. Threads share its memory instead of an arena each: 10 MB less under load. What V8's compiler frees
// goes back to the system, as it does not once the allocator adapts its thresholds by itself: 7 MB less.
const MALLOC = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: String(1_024 * 1_024),
  MALLOC_MMAP_THRESHOLD_: String(4 * 1_024 * 1_024),
}
const ENTRY = fileURLToPath(new URL('./process.ts', import.meta.url))
// Main may load or build for longer than a serving thread may: so many times `watchdogTimeout`.
const MAIN_PATIENCE = 6
const ASK_EVERY = 100
// Half of main's young heap (MB), at least: what it loads at its start outlives that, and with 1 is copied and copied again.
const MAIN_SEMI_SPACE = 8
// Beyond the service's own shutdownTimeout: for closing its parts.
const EXIT_TIMEOUT = 5_000

/**
 * Starts a service process. `stopped` ends it while it starts; once it is ready, its own `stop` does.
 * @param settled what of its configuration comes later: it loads its code meanwhile
 * @param holdsLines whether its log waits until `shown`
 * @throws StartError when the first start fails; later ones are tried again for ever
 */
export async function startChild(
  start: Start,
  stopped: AbortSignal,
  settled: Promise<Partial<Config>> = Promise.resolve({}),
  holdsLines = false,
): Promise<Child> {
  const { name } = start
  const tell = (text: string) => say(`${name}: ${text}\n`)
  const delays = backOff()
  const config = { ...start.config }
  const whole = { ...start, config, isHeld: holdsLines }
  const first = settled.then((late) => {
    Object.assign(config, late)
    return whole
  })
  let current: Running = await launch(whole, stopped, first)
  // A service that chose its port keeps it when it comes back.
  config.port = Number(new URL(current.ready.url).port)
  let timer: NodeJS.Timeout | undefined
  let restarting: Promise<void> | undefined
  watch(current)

  function watch(running: Running): void {
    const { process: child } = running
    watchLoop(child, config.watchdogTimeout * MAIN_PATIENCE, () => tell(`process ${child.pid} is stuck`))
    function onExit(code: number | null, signal: string | null): void {
      if (stopped.aborted) return
      tell(`process ${child.pid} died (${signal ?? `exit code ${code}`}); starting another`)
      restart()
    }
    if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode)
    else child.once('exit', onExit)
  }

  function restart(): void {
    timer = setTimeout(() => (restarting = relaunch()), delays.next())
  }

  async function relaunch(): Promise<void> {
    try {
      current = await launch(whole, stopped)
      tell(`is back as process ${current.process.pid}`)
      watch(current)
    } catch (error) {
      if (stopped.aborted) return
      tell((error as Error).message)
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
    shown() {
      whole.isHeld = false
      if (current.process.connected) current.process.send({ kind: 'shown' } satisfies ToProcess)
    },
    async stop() {
      clearTimeout(timer)
      await restarting
      return endProcess(current.process, config.shutdownTimeout)
    },
  }
}

/** Of main; serving threads begin with what is told. */
const semiSpaceOf = ({ threads, maxSemiSpaceSize }: Config) =>
  threads === '0' ? maxSemiSpaceSize : Math.max(maxSemiSpaceSize, MAIN_SEMI_SPACE)

/**
 * Forks a process, tells it to start once that is whole, and waits until it is ready. It has a session of its own, so that
 * Ctrl-C reaches the supervisor alone.
 */
function launch(start: Whole, stopped: AbortSignal, whole: Promise<Whole> = Promise.resolve(start)): Promise<Running> {
  stopped.throwIfAborted()
  const child = fork(ENTRY, [], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [...process.execArgv, `--max-semi-space-size=${semiSpaceOf(start.config)}`],
    env: { ...MALLOC, ...process.env },
    serialization: 'advanced',
  })
  const end = () => void endProcess(child, start.config.shutdownTimeout)
  stopped.addEventListener('abort', end)
  const running = new Promise<Running>((resolve, reject) => {
    whole.then(
      (told) => void (child.connected && child.send({ kind: 'start', ...told } satisfies ToProcess)),
      (error) => {
        reject(error)
        end()
      },
    )
    // Stays for the process's life: a message that can no longer be delivered is an 'error' too.
    child.on('error', reject)
    child.on('message', (message: FromProcess) => {
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
function watchLoop(child: ChildProcess, timeout: number, onStuck: () => void): void {
  const watchdog = createWatchdog(1, timeout)
  watchdog
    .watch(0, () => {
      onStuck()
      child.kill('SIGKILL')
    })
    .started(mainTaskOf(child.pid!))
  let isAsked = false
  const timer = setInterval(() => {
    if (isAsked || !child.connected) return
    isAsked = true
    child.send({ kind: 'ask' } satisfies ToProcess)
  }, ASK_EVERY)
  child.on('message', (message: FromProcess) => {
    if (message.kind !== 'alive') return
    isAsked = false
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
  if (child.connected) child.send({ kind: 'stop' } satisfies ToProcess)
  const timer = setTimeout(() => child.kill('SIGKILL'), shutdownTimeout + EXIT_TIMEOUT)
  const code = await exit
  clearTimeout(timer)
  return code === 0
}
