import { destination, pino, type Logger } from 'pino'

/**
 * The runtime's own log: JSON lines on stdout. Synchronous, because an asynchronous one loses its last lines (999 of
 * 1,000) when a thread exits; it is quiet, so the price is not paid on any hot path.
 */
export function createLog(level: string, bindings: Record<string, unknown>): Logger {
  return pino({ level, base: { pid: process.pid, ...bindings } }, destination({ fd: 1, sync: true }))
}
