import { destination, pino, type Logger } from 'pino'
import { hidingInJson } from '../settings/secrets.ts'

/**
 * The runtime's own log: JSON lines on stdout. Synchronous, because an asynchronous one loses its last lines (999 of
 * 1,000) when a thread exits; it is quiet, so the price is not paid on any hot path.
 * @param secrets no line has them in it
 */
export function createLog(
  level: string,
  bindings: Record<string, unknown>,
  secrets: readonly string[],
  fd = 1,
): Logger {
  const hooks = { streamWrite: hidingInJson(secrets) }
  return pino({ level, base: { pid: process.pid, ...bindings }, hooks }, destination({ fd, sync: true }))
}
