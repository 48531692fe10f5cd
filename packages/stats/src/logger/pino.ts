import { createJsonRedactor } from '@influencer-stats/runtime/secrets'
import { pino } from 'pino'
import { BASE_FIELDS, createJsonSink } from './json-log.ts'
import type { StatsLogger, LoggerOptions } from './logger.ts'

const BUFFER_BYTES = 4_096
const FLUSH_INTERVAL_MS = 1_000

/** Creates a logger of JSON lines, batched into writes of 4 KB. A killed process loses at most the last second. */
export function createPinoLogger({ to = 1, level = 'info', secrets = [] }: LoggerOptions = {}): StatsLogger {
  const out = createJsonSink(to, { minWriteLength: BUFFER_BYTES, flushIntervalMs: FLUSH_INTERVAL_MS })
  const log = pino({ level, base: BASE_FIELDS, hooks: { streamWrite: createJsonRedactor(secrets) } }, out)
  return {
    dropped: 0,
    debug: (message) => log.debug(message),
    info: (message) => log.info(message),
    error: (message, fault) => log.error({ err: fault }, message),
    close: async () => out.close(),
  }
}
