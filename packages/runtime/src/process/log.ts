import { pino, type Logger } from 'pino'
import { hidingInJson } from '../settings/secrets.ts'
import { traceFields } from '../trace.ts'
import { createSink } from './sink.ts'

/**
 * The runtime's own log: JSON lines on stdout, each written before the next step. Faults of stdout are nobody's.
 * @param secrets no line has them in it
 */
export function createLog(
  level: string,
  bindings: Record<string, unknown>,
  secrets: readonly string[],
  fd = 1,
): Logger {
  const base = { pid: process.pid, ...bindings }
  const tell = (lost: number) =>
    JSON.stringify({ level: pino.levels.values.warn, time: Date.now(), ...base, lost, msg: 'lines not written' })
  return pino(
    { level, base, mixin: () => traceFields(), hooks: { streamWrite: hidingInJson(secrets) } },
    createSink(fd, { tell }),
  )
}
