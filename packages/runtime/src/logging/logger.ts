import { pino, type Logger } from 'pino'
import { createJsonRedactor } from '../settings/secrets.ts'
import { getTraceFields } from '../trace.ts'
import { openLineSink } from './line-sink.ts'

/**
 * Creates the log of the runtime: JSON lines, by default on standard output, written synchronously. A line that cannot
 * be written is counted and dropped.
 * @param secrets values that are removed from every line
 */
export function createLogger(
  level: string,
  bindings: Record<string, unknown>,
  secrets: readonly string[],
  fd = 1,
): Logger {
  const base = { pid: process.pid, ...bindings }
  const formatLoss = (lost: number) =>
    JSON.stringify({ level: pino.levels.values.warn, time: Date.now(), ...base, lost, msg: 'lines not written' })
  return pino(
    { level, base, mixin: () => getTraceFields(), hooks: { streamWrite: createJsonRedactor(secrets) } },
    openLineSink(fd, { formatLoss }),
  )
}
