import { hidingInJson } from '@influencer-stats/runtime/secrets'
import { destination, pino } from 'pino'
import { endingOf } from './ending.ts'
import type { Logger, LoggerOptions } from './logger.ts'

const BUFFER = 4_096
const FLUSH_EVERY = 1_000

/** JSON lines, gathered into writes of 4 KB that nobody waits for; a killed process loses at most the last second. */
export function createPinoLogger({ to = 1, level = 'info', secrets = [] }: LoggerOptions = {}): Logger {
  const out = destination({ dest: to, sync: false, minLength: BUFFER, periodicFlush: FLUSH_EVERY })
  const log = pino({ level, base: { service: 'stats' }, hooks: { streamWrite: hidingInJson(secrets) } }, out)
  return {
    dropped: 0,
    debug: (message) => log.debug(message),
    info: (message) => log.info(message),
    error: (message, fault) => log.error({ err: fault }, message),
    close: endingOf(out),
  }
}
