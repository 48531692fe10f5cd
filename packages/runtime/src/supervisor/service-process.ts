import '../worker/v8/held-tick.ts'
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { StartError } from '../errors/common-errors.ts'
import { trimHeap } from '../worker/trim-heap.ts'
import { startService, type RunningService } from './service-host.ts'
import { createLogger } from '../logging/logger.ts'
import type { ProcessReport, ProcessCommand } from '../channel/process-messages.ts'
import { createRedactor, getSecrets } from '../settings/secrets.ts'
import { SHUTDOWN_GRACE_MS } from '../worker/drain.ts'
import { pauseLines, resumeLines } from '../logging/line-sink.ts'

// Entry point of a service process, which the supervisor forks. Starts the service, reports that it is ready, and stops
// on request or when its supervisor dies.

// Time to close the parts after all requests are complete (ms).
const CLOSE_TIMEOUT_MS = 4_000
/** Delay from the start of the service until its unused heap is released (ms). */
const TRIM_DELAY_MS = 2_000

let running: Promise<RunningService> | undefined
/** Resolved when the predecessor has closed its data. */
const mayOpen = Promise.withResolvers<void>()
mayOpen.promise.catch(() => {})
const listeners = new Map<number, PromiseWithResolvers<number>>()
/**
 * Handles of received sockets, whose descriptors the threads use and close. They are never used or closed here: at the
 * end of the process, their descriptors are gone.
 */
const handles: unknown[] = []
let name = ''
let shutdownTimeout = 0
let stopping = false
let redact = createRedactor([])

// After the death of the supervisor, `send` would throw.
const send = (message: ProcessReport) => void (process.connected && process.send!(message))

/** Requests the listening socket of a thread from the supervisor, which holds it. Returns its descriptor. */
function getListener(index: number): Promise<number> {
  const listener = Promise.withResolvers<number>()
  listeners.set(index, listener)
  send({ kind: 'getListener', index })
  return listener.promise
}

function onListener(index: number, handle: { readonly fd: number }): void {
  handles.push(handle)
  listeners.get(index)!.resolve(handle.fd)
}

function onLoaded(): Promise<void> {
  send({ kind: 'loaded' })
  return mayOpen.promise
}

async function start(message: ProcessCommand & { kind: 'start' }): Promise<RunningService> {
  const { services, config, hasListeners, isSuccessor } = message
  const table = await import(services)
  const definition = await table.services[name]()
  const secrets = getSecrets(definition, config)
  redact = createRedactor(secrets)
  const log = createLogger(config.logLevel, { service: name }, secrets)
  const onFail = () => {
    process.exitCode = 1
    void stop(SHUTDOWN_GRACE_MS)
  }
  return startService({
    services,
    definition,
    config,
    log,
    onFail,
    getListener: hasListeners ? getListener : undefined,
    onLoaded: isSuccessor ? onLoaded : undefined,
  })
}

/** Ends the process even if a part hangs, because without a supervisor no other process would end it. */
function exitWithin(ms: number): void {
  setTimeout(() => process.exit(1), ms).unref()
}

/** Stops the service. Idempotent, because a signal, the supervisor's message and its death may come together. */
async function stop(grace: number): Promise<void> {
  if (stopping) return
  stopping = true
  exitWithin(grace + shutdownTimeout + CLOSE_TIMEOUT_MS)
  mayOpen.reject(new Error('stopped before its predecessor'))
  const service = await running?.catch(() => undefined)
  const clean = (await service?.stop(grace)) ?? true
  send({ kind: 'closed' })
  // The handler of a request that was cut off may run for a long time.
  if (!clean) process.exit(1)
  process.exitCode ??= 0
  if (process.connected) process.disconnect()
}

/** Explains a failure to the user: in one line if the message is sufficient, or with a stack for a programmer. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return `${name}: ${error}`
  // Compared by name, because an error from a thread is no instance of this thread's class.
  if (error.name === StartError.name) return error.message
  return `${name}: ${'syscall' in error ? error.message : error.stack}`
}

function reportFailure(error: unknown): void {
  const code = (error as { code?: string } | undefined)?.code ?? 'START_FAILED'
  send({ kind: 'failed', code, message: redact(explain(error)) })
  process.exitCode = 1
  stopping = true
  exitWithin(CLOSE_TIMEOUT_MS)
  if (process.connected) process.disconnect()
}

process.on('message', (message: ProcessCommand, handle?: unknown) => {
  if (message.kind === 'stop') return void stop(message.grace)
  if (message.kind === 'open') return mayOpen.resolve()
  if (message.kind === 'listener') return onListener(message.index, handle as { fd: number })
  if (message.kind === 'checkAlive') return send({ kind: 'alive' })
  if (message.kind === 'tablePrinted') return resumeLines()
  if (message.holdsLogLines) pauseLines()
  name = message.name
  // For threads that start from now on. Main got its own value when it was forked.
  setFlagsFromString(`--max-semi-space-size=${message.config.maxSemiSpaceSize}`)
  shutdownTimeout = message.config.shutdownTimeout
  running = start(message)
  running.then(({ url, threads, notes }) => {
    send({ kind: 'ready', url, threads, notes })
    flushCompileCache()
    // Later, because it blocks the thread, and other services may be starting.
    setTimeout(trimHeap, TRIM_DELAY_MS).unref()
  }, reportFailure)
})
for (const event of ['disconnect', 'SIGTERM', 'SIGINT'] as const) process.on(event, () => void stop(SHUTDOWN_GRACE_MS))
