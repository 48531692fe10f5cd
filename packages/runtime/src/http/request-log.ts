import { performance } from 'node:perf_hooks'
import type { Logger } from 'pino'
import type { CommonSettings } from '../settings/settings.ts'
import { getTraceFields, type Trace } from '../trace.ts'

/** A request that was answered. */
export interface RequestLogEntry {
  readonly method: string
  /** As it was declared: what stands in an address may be a secret. */
  readonly route: string
  readonly status: number
  /** When it was there (ms, `performance.now()`). */
  readonly startedAt: number
  readonly address: string | undefined
  readonly trace: Trace
}

/** Writes a line a request, for some of them. */
export interface RequestLog {
  /** Of routes that Fastify answers; nothing where none of these is written. */
  readonly writeRequest?: (entry: RequestLogEntry) => void
  /** Of hot routes: made only for those that are written. */
  readonly writeHotRequest?: (describe: () => RequestLogEntry) => void
}

type RequestLogSettings = Pick<CommonSettings, 'requestLogSampling' | 'hotRequestLogSampling'>

export function createRequestLog(
  log: Logger,
  { requestLogSampling, hotRequestLogSampling }: RequestLogSettings,
): RequestLog {
  function write({ startedAt, trace, ...fields }: RequestLogEntry): void {
    const ms = Math.round((performance.now() - startedAt) * 1_000) / 1_000
    log.info({ ...getTraceFields(trace), ...fields, ms }, 'request')
  }
  const isEnabled = log.isLevelEnabled('info')
  const shouldLogRequest = createSampler(requestLogSampling)
  const shouldLogHotRequest = createSampler(hotRequestLogSampling)
  return {
    ...(isEnabled && requestLogSampling > 0 && { writeRequest: (entry) => shouldLogRequest() && write(entry) }),
    ...(isEnabled &&
      hotRequestLogSampling > 0 && { writeHotRequest: (describe) => shouldLogHotRequest() && write(describe()) }),
  }
}

/** Takes the first of each `every`. */
function createSampler(every: number): () => boolean {
  let seen = 0
  return () => {
    const isTaken = seen === 0
    seen = (seen + 1) % every
    return isTaken
  }
}
