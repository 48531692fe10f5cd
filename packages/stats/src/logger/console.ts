import { destination } from 'pino'
import { endingOf } from './ending.ts'
import { formatLine, type Logger, type LoggerOptions } from './logger.ts'

/** Writes every line at once and waits until it is written: nothing is lost, and every request pays for it. */
export function createConsoleLogger({ to = 1 }: LoggerOptions = {}): Logger {
  const out = destination({ dest: to, sync: true })
  return {
    dropped: 0,
    debug: (message) => void out.write(formatLine('DEBUG', message)),
    info: (message) => void out.write(formatLine('INFO', message)),
    error: (message, fault) => void out.write(formatLine('ERROR', message, fault)),
    close: endingOf(out),
  }
}
