import { createLineSink, formatLine, type Logger, type LoggerOptions } from './logger.ts'

/** Writes every line at once and waits until it is written: nothing is lost, and every request pays for it. */
export function createConsoleLogger({ to = 1 }: LoggerOptions = {}): Logger {
  const out = createLineSink(to)
  return {
    dropped: 0,
    debug: (message) => out.write(formatLine('DEBUG', message)),
    info: (message) => out.write(formatLine('INFO', message)),
    error: (message, fault) => out.write(formatLine('ERROR', message, fault)),
    close: async () => out.close(),
  }
}
