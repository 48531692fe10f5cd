import { hidingInJson } from '@influencer-stats/runtime/secrets'
import { pino } from 'pino'
import { endingOf } from './ending.ts'
import type { Logger, LoggerOptions } from './logger.ts'

/** JSON lines, handed to a thread of their own, which writes them. */
export function createPinoWorkerLogger({ to = 1, level = 'info', secrets = [] }: LoggerOptions = {}): Logger {
  const transport = pino.transport({ target: 'pino/file', options: { destination: to } })
  const log = pino({ level, base: { service: 'stats' }, hooks: { streamWrite: hidingInJson(secrets) } }, transport)

  return {
    dropped: 0,
    debug: (message) => log.debug(message),
    info: (message) => log.info(message),
    error: (message, fault) => log.error({ err: fault }, message),
    close: endingOf(transport),
  }
}
