import '../v8/held-tick.ts'
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { StartError } from '../http/common-errors.ts'
import { trimHeap } from './trim-heap.ts'
import { startService, type RunningService } from './service-host.ts'
import { createLogger } from './logger.ts'
import type { ProcessReport, ProcessCommand } from './process-messages.ts'
import { createRedactor, getSecrets } from '../settings/secrets.ts'
import { pauseLines, resumeLines } from './line-sink.ts'

// The entry of a service process, forked by the supervisor: start what it is told, say so, stop when told or orphaned.

// For closing the parts, once nothing is in flight.
const CLOSE_TIMEOUT_MS = 4_000
const TRIM_DELAY_MS = 2_000

let running: Promise<RunningService> | undefined
let name = ''
let shutdownTimeout = 0
let stopping = false
let hide = createRedactor([])

// After the supervisor died, `send` would throw.
const send = (message: ProcessReport) => void (process.connected && process.send!(message))

async function start({ services, config }: ProcessCommand & { kind: 'start' }): Promise<RunningService> {
  const table = await import(services)
  const definition = await table.services[name]()
  const secrets = getSecrets(definition, config)
  hide = createRedactor(secrets)
  const log = createLogger(config.logLevel, { service: name }, secrets)
  const onFail = () => {
    process.exitCode = 1
    void stop()
  }
  return startService({ services, definition, config, log, onFail })
}

/** Ends the process even if a part hangs: without its supervisor nobody else would. */
function exitWithin(ms: number): void {
  setTimeout(() => process.exit(1), ms).unref()
}

/** Idempotent: a signal, the supervisor's word and its death may all come at once. */
async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  exitWithin(shutdownTimeout + CLOSE_TIMEOUT_MS)
  const service = await running?.catch(() => undefined)
  const clean = (await service?.stop()) ?? true
  // The handler of a request that was cut may go on for long.
  if (!clean) process.exit(1)
  process.exitCode ??= 0
  if (process.connected) process.disconnect()
}

/** What went wrong, for the user: one line where its words explain it, with a stack where a programmer is needed. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return `${name}: ${error}`
  // By name: one that comes from a thread is no instance of this thread's class.
  if (error.name === StartError.name) return error.message
  return `${name}: ${'syscall' in error ? error.message : error.stack}`
}

function reportFailure(error: unknown): void {
  const code = (error as { code?: string } | undefined)?.code ?? 'START_FAILED'
  send({ kind: 'failed', code, message: hide(explain(error)) })
  process.exitCode = 1
  stopping = true
  exitWithin(CLOSE_TIMEOUT_MS)
  if (process.connected) process.disconnect()
}

process.on('message', (message: ProcessCommand) => {
  if (message.kind === 'stop') return void stop()
  if (message.kind === 'ask') return send({ kind: 'alive' })
  if (message.kind === 'shown') return resumeLines()
  if (message.isHeld) pauseLines()
  name = message.name
  // Of threads that begin from now on; main's was told when it was forked.
  setFlagsFromString(`--max-semi-space-size=${message.config.maxSemiSpaceSize}`)
  shutdownTimeout = message.config.shutdownTimeout
  running = start(message)
  running.then(({ url, threads, notes }) => {
    send({ kind: 'ready', url, threads, notes })
    flushCompileCache()
    // Not at once: other services may be starting.
    setTimeout(trimHeap, TRIM_DELAY_MS).unref()
  }, reportFailure)
})
process.on('disconnect', stop)
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
