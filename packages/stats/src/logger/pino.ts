import { once } from 'node:events'
import { createJsonRedactor } from '@influencer-stats/runtime/secrets'
import { getSinkWords } from '@influencer-stats/runtime/line-sink'
import { pino, type DestinationStream } from 'pino'
import { BASE_FIELDS, createJsonSink } from './json-log.ts'
import type { StatsLogger, LoggerOptions } from './logger.ts'

const BUFFER_BYTES = 4_096
const FLUSH_INTERVAL_MS = 1_000
const WRITER_URL = new URL('./pino-worker-thread.ts', import.meta.url).href

function createLogger(
  out: DestinationStream,
  { level = 'info', secrets = [] }: LoggerOptions,
  close: StatsLogger['close'],
): StatsLogger {
  const log = pino({ level, base: BASE_FIELDS, hooks: { streamWrite: createJsonRedactor(secrets) } }, out)
  return {
    dropped: 0,
    debug: (message) => log.debug(message),
    info: (message) => log.info(message),
    error: (message, fault) => log.error({ err: fault }, message),
    close,
  }
}

/** Creates a logger of JSON lines, batched into writes of 4 KB. A killed process loses at most the last second. */
export function createPinoLogger(options: LoggerOptions = {}): StatsLogger {
  const out = createJsonSink(options.to ?? 1, { minWriteLength: BUFFER_BYTES, flushIntervalMs: FLUSH_INTERVAL_MS })
  return createLogger(out, options, async () => out.close())
}

/** Creates a logger of JSON lines that a separate thread writes. */
export function createPinoWorkerLogger(options: LoggerOptions = {}): StatsLogger {
  const out = pino.transport({ target: WRITER_URL, options: { to: options.to ?? 1, sinkWords: getSinkWords() } })
  let closed: Promise<unknown> | undefined
  return createLogger(out, options, async () => {
    if (!closed) {
      closed = once(out, 'close')
      out.end()
    }
    await closed
  })
}
