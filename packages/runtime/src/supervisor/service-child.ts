import { hasExited } from '../async/has-exited.ts'
import { createBackOff } from '../async/retry.ts'
import type { ProcessReport, ProcessCommand } from '../channel/process-messages.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import { print } from '../logging/cli-output.ts'
import { adoptListeners, bindListeners, CAN_HOLD_LISTENERS, type HeldListeners } from './held-listeners.ts'
import {
  endProcess,
  EXIT_TIMEOUT_MS,
  launch,
  type LaunchOptions,
  watchMain,
  type ReadyProcess,
  type StartMessage,
} from './process-launch.ts'
import { SHUTDOWN_GRACE_MS } from '../worker/drain.ts'
import { waitForRelease } from './wait-for-release.ts'

/** Parameters of a service that the supervisor starts. */
export type ChildStart = Pick<ProcessCommand & { kind: 'start' }, 'services' | 'name' | 'config'>

/** A service process. The supervisor restarts it whenever it dies. */
export interface ServiceChild {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly threads: number
  readonly notes: readonly string[]
  /** Lets the process print its log lines. Call this after the table of running services is printed. */
  releaseLog(): void
  /**
   * Replaces the process by a successor with these settings, while the listening sockets stay open. If the successor
   * cannot load its code, the process continues.
   */
  reload(config: ServiceConfig): Promise<void>
  /** Drains and ends the process. Resolves with true if it ended cleanly. */
  stop(): Promise<boolean>
}

const LOCK_RETRY_MS = 200
// Time in which a process still accepts connections while its successor waits, and each reply ends its connection (ms).
// Connections that remain then have been idle for that time.
const RELOAD_GRACE_MS = 1_000

interface ChildOptions {
  /** True if the log lines of the process wait until `releaseLog`. */
  readonly holdsLogLines?: boolean
  /** Descriptors of listening sockets that another program holds. Default: the service binds its port. */
  readonly sockets?: readonly number[]
  /** Limit of V8's old space on main (MB). Default: V8's own. */
  readonly heapLimit?: number | undefined
}

/**
 * Starts a service process. Aborting `stopped` ends the process while it starts, and prevents restarts. Once it is
 * ready, `stop` of the result ends it.
 * @param settled settings that are known later; the process loads the code of the runtime meanwhile
 * @throws StartError if the first start fails; later starts are retried forever
 */
export async function startChild(
  start: ChildStart,
  stopped: AbortSignal,
  settled: Promise<Partial<ServiceConfig>> = Promise.resolve({}),
  { holdsLogLines = false, sockets = [], heapLimit }: ChildOptions = {},
): Promise<ServiceChild> {
  const { name } = start
  const report = (text: string) => print(`${name}: ${text}\n`)
  const delays = createBackOff()
  const config = { ...start.config }
  const message: StartMessage = { ...start, config, holdsLogLines, hasListeners: CAN_HOLD_LISTENERS }
  const releaseTimeout = config.shutdownTimeout + EXIT_TIMEOUT_MS
  async function bind(): Promise<HeldListeners | undefined> {
    if (!CAN_HOLD_LISTENERS) return undefined
    if (sockets.length > 0) return adoptListeners(name, sockets)
    return bindListeners({ name, config, timeout: releaseTimeout, stopped, onWait: report })
  }
  let listeners: HeldListeners | undefined
  const first = Promise.all([settled, bind()]).then(([late, bound]) => {
    listeners = bound
    // A service that chose a free port has the same port after a restart.
    Object.assign(config, late, bound?.settings)
    return message
  })
  const launchOptions: LaunchOptions = {
    stopped,
    heapLimit,
    sendListener: (child, index) => listeners?.send(child, index),
  }

  /** Launches the first process. A predecessor that is ending may still have the data open. */
  const launchFirst = (): Promise<ReadyProcess> =>
    waitForRelease(() => launch(message, { ...launchOptions, complete: first }), {
      code: 'DATA_LOCKED',
      timeout: releaseTimeout,
      interval: LOCK_RETRY_MS,
      stopped,
      describe: (error) => error.message.slice(`${name}: `.length),
      onWait: report,
    })

  let current = await launchFirst().catch((error: unknown) => {
    listeners?.close()
    throw error
  })
  config.port = Number(new URL(current.ready.url).port)
  let timer: NodeJS.Timeout | undefined
  let starting: Promise<void> | undefined
  let isReloading = false
  watch(current)

  function watch(running: ReadyProcess): void {
    const { process: child } = running
    listeners?.trim(running.ready.threads)
    watchMain(child, config, () => report(`process ${child.pid} does not respond`))
    function onExit(code: number | null, signal: string | null): void {
      // A successor that is loading its code takes over at once. One that is ready has replaced the process already.
      if (stopped.aborted || isReloading || running !== current) return
      report(`process ${child.pid} exited (${signal ?? `exit code ${code}`}); the supervisor restarts it`)
      restart()
    }
    if (hasExited(child)) onExit(child.exitCode, child.signalCode)
    else child.once('exit', onExit)
  }

  function restart(): void {
    timer = setTimeout(() => (starting = startAgain()), delays.next())
  }

  async function startAgain(): Promise<void> {
    try {
      current = await launch(message, launchOptions)
      report(`restarted as process ${current.process.pid}`)
      watch(current)
    } catch (error) {
      if (stopped.aborted) return
      report((error as Error).message)
      restart()
    }
  }

  async function startSuccessor(): Promise<void> {
    const predecessor = current.process
    /** Ends the predecessor. Resolves when it has closed its data. */
    async function takeOver(): Promise<void> {
      if (hasExited(predecessor)) return
      const closed = new Promise<void>((resolve) => {
        predecessor.on('message', ({ kind }: ProcessReport) => kind === 'closed' && resolve())
      })
      await Promise.race([closed, endProcess(predecessor, config.shutdownTimeout, RELOAD_GRACE_MS)])
    }
    isReloading = true
    try {
      current = await launch(message, { ...launchOptions, takeOver })
      isReloading = false
      report(`reloaded as process ${current.process.pid}`)
      watch(current)
    } catch (error) {
      isReloading = false
      if (stopped.aborted) return
      report(`reload failed: ${(error as Error).message}`)
      // Otherwise the exit of the predecessor restarts the service, if it is ending.
      if (hasExited(predecessor)) restart()
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
    async reload(newConfig) {
      if (!listeners) return report('reload failed: this system cannot keep the port open')
      // A process that has exited is being restarted: that loads the new settings, too.
      Object.assign(config, newConfig, listeners.settings)
      if (hasExited(current.process)) return
      starting = startSuccessor()
      await starting
    },
    async stop() {
      clearTimeout(timer)
      // The process alone keeps its sockets open, so that it refuses connections once it has closed them.
      listeners?.close()
      await starting
      return endProcess(current.process, config.shutdownTimeout, SHUTDOWN_GRACE_MS)
    },
  }
}
