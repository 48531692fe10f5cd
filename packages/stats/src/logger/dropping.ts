import { createRedactor } from '@influencer-stats/runtime/secrets'
import { createLineSink, formatLine, type LogLevel, type StatsLogger, type LoggerOptions } from './logger.ts'

const MAX_LINES_PER_SECOND = 1_000
const FLUSH_INTERVAL_MS = 1_000

/** Writes at most 1,000 lines per second, once a second, and reports the number of dropped lines. */
export function createDroppingLogger({ to = 1, secrets = [] }: LoggerOptions = {}): StatsLogger {
  const out = createLineSink(to)
  const hide = createRedactor(secrets)
  let lines: string[] = []
  let droppedNow = 0
  let dropped = 0

  function flush(): void {
    if (droppedNow > 0) lines.push(formatLine('INFO', `${droppedNow} lines dropped`))
    if (lines.length > 0) out.write(lines.join(''))
    dropped += droppedNow
    droppedNow = 0
    lines = []
  }
  const timer = setInterval(flush, FLUSH_INTERVAL_MS).unref()

  // The check precedes the formatting, so a dropped line costs only its count.
  const hasCapacity = () => lines.length < MAX_LINES_PER_SECOND || (droppedNow++, false)

  function addLine(level: LogLevel, message: string, fault?: unknown): void {
    if (hasCapacity()) lines.push(hide(formatLine(level, message, fault)))
  }

  return {
    get dropped() {
      return dropped + droppedNow
    },
    debug: (message) => addLine('DEBUG', message),
    info: (message) => addLine('INFO', message),
    error: (message, fault) => addLine('ERROR', message, fault),
    async close() {
      clearInterval(timer)
      flush()
      out.close()
    },
  }
}
