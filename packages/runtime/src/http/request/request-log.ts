import { performance } from 'node:perf_hooks'
import type { Logger } from 'pino'
import type { CommonSettings } from '../../settings/settings.ts'
import { getTraceFields, type Trace } from '../../trace.ts'
import type { RequestSummary } from '../../tracing/tracer.ts'

/** A completed request. */
export interface RequestLogEntry extends RequestSummary {
  readonly address: string | undefined
  readonly trace: Trace
}

/** Writes a log line for a sample of the requests. */
export interface RequestLog {
  /** Logs a request of a route that Fastify answers. Undefined if no such request is logged. */
  readonly writeRequest?: (entry: RequestLogEntry) => void
  /** Logs a request of a hot route. Calls `describe` only if the request is logged. */
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

/** Creates a function that returns true for the first of each `interval` calls. */
function createSampler(interval: number): () => boolean {
  let seen = 0
  return () => {
    const isSelected = seen === 0
    seen = (seen + 1) % interval
    return isSelected
  }
}
