import { StartError } from './errors.ts'
import { startService, type RunningService } from './host.ts'
import { createLog } from './log.ts'
import type { FromProcess, ToProcess } from './messages.ts'

// The entry of a service process, forked by the supervisor: start what it is told, say so, stop when told or orphaned.

let running: Promise<RunningService> | undefined
let stopping = false

// After the supervisor died, `send` would throw.
const send = (message: FromProcess) => void (process.connected && process.send!(message))

async function start({ services, name, config }: ToProcess & { kind: 'start' }): Promise<RunningService> {
  const log = createLog(config.logLevel, { service: name })
  const table = await import(services)
  return startService({ services, definition: await table.services[name](), config, log })
}

/** Idempotent: a signal, the supervisor's word and its death may all come at once. */
async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  const service = await running?.catch(() => undefined)
  const clean = (await service?.stop()) ?? true
  process.exitCode = clean ? 0 : 1
  if (process.connected) process.disconnect()
}

function fail(error: unknown): void {
  const { code = 'START_FAILED', message } = error as { code?: string; message: string }
  send({ kind: 'failed', code, message: error instanceof StartError ? message : `${message}\n${(error as Error).stack}` })
  process.exitCode = 1
  if (process.connected) process.disconnect()
}

process.on('message', (message: ToProcess) => {
  if (message.kind === 'stop') return void stop()
  running = start(message)
  running.then(({ url, threads, note }) => send({ kind: 'ready', url, threads, note }), fail)
})
process.on('disconnect', stop)
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
