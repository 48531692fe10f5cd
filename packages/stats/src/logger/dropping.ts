import { createRedactor } from '@influencer-stats/runtime/secrets'
import { createLineSink, formatLine, type Level, type Logger, type LoggerOptions } from './logger.ts'

const LINES_A_SECOND = 1_000
const SECOND = 1_000

/** Keeps at most 1,000 lines a second, writes them once a second, and says how many more there would have been. */
export function createDroppingLogger({ to = 1, secrets = [] }: LoggerOptions = {}): Logger {
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
  const timer = setInterval(flush, SECOND).unref()

  // Counted before it is formatted: a dropped line costs nothing more.
  const hasRoom = () => lines.length < LINES_A_SECOND || (droppedNow++, false)

  function keep(level: Level, message: string, fault?: unknown): void {
    if (hasRoom()) lines.push(hide(formatLine(level, message, fault)))
  }

  return {
    get dropped() {
      return dropped + droppedNow
    },
    debug: (message) => keep('DEBUG', message),
    info: (message) => keep('INFO', message),
    error: (message, fault) => keep('ERROR', message, fault),
    async close() {
      clearInterval(timer)
      flush()
      out.close()
    },
  }
}
