import { createRedactor } from '@influencer-stats/runtime/secrets'
import { createLineSink, formatLine, type StatsLogger, type LoggerOptions } from './logger.ts'

/**
 * Writes every line at once and waits until it is written. A line is lost only if the descriptor cannot accept it, but
 * every request waits for its lines.
 */
export function createConsoleLogger({ to = 1, secrets = [] }: LoggerOptions = {}): StatsLogger {
  const out = createLineSink(to)
  const hide = createRedactor(secrets)
  const write = (...line: Parameters<typeof formatLine>) => out.write(hide(formatLine(...line)))
  return {
    dropped: 0,
    debug: (message) => write('DEBUG', message),
    info: (message) => write('INFO', message),
    error: (message, fault) => write('ERROR', message, fault),
    close: async () => out.close(),
  }
}
