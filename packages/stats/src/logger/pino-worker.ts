import { createJsonRedactor } from '@influencer-stats/runtime/secrets'
import { getSinkWords } from '@influencer-stats/runtime/line-sink'
import { once } from 'node:events'
import { pino } from 'pino'
import { BASE_FIELDS } from './json-log.ts'
import type { StatsLogger, LoggerOptions } from './logger.ts'

const WRITER_URL = new URL('./pino-worker-thread.ts', import.meta.url).href

/** Creates a logger of JSON lines that a separate thread writes. */
export function createPinoWorkerLogger({ to = 1, level = 'info', secrets = [] }: LoggerOptions = {}): StatsLogger {
  const transport = pino.transport({ target: WRITER_URL, options: { to, sinkWords: getSinkWords() } })
  const log = pino({ level, base: BASE_FIELDS, hooks: { streamWrite: createJsonRedactor(secrets) } }, transport)
  let closed: Promise<unknown> | undefined

  return {
    dropped: 0,
    debug: (message) => log.debug(message),
    info: (message) => log.info(message),
    error: (message, fault) => log.error({ err: fault }, message),
    async close() {
      if (!closed) {
        closed = once(transport, 'close')
        transport.end()
      }
      await closed
    },
  }
}
