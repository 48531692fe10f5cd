import { createJsonRedactor } from '@influencer-stats/runtime/secrets'
import { pino } from 'pino'
import { BASE, createJsonSink } from './json-log.ts'
import type { Logger, LoggerOptions } from './logger.ts'

const GATHER = 4_096
const WITHIN = 1_000

/** JSON lines, gathered into writes of 4 KB; a killed process loses at most the last second. */
export function createPinoLogger({ to = 1, level = 'info', secrets = [] }: LoggerOptions = {}): Logger {
  const out = createJsonSink(to, { minWriteLength: GATHER, flushIntervalMs: WITHIN })
  const log = pino({ level, base: BASE, hooks: { streamWrite: createJsonRedactor(secrets) } }, out)
  return {
    dropped: 0,
    debug: (message) => log.debug(message),
    info: (message) => log.info(message),
    error: (message, fault) => log.error({ err: fault }, message),
    close: async () => out.close(),
  }
}
