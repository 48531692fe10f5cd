import { performance } from 'node:perf_hooks'
import type { Logger } from 'pino'
import type { CommonSettings } from '../settings/settings.ts'
import { traceFields, type Trace } from '../trace.ts'

/** A request that was answered. */
export interface Answered {
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
  readonly others?: (answered: Answered) => void
  /** Of hot routes: made only for those that are written. */
  readonly hot?: (describe: () => Answered) => void
}

type Settings = Pick<CommonSettings, 'requestLogSampling' | 'hotRequestLogSampling'>

export function createRequestLog(log: Logger, { requestLogSampling, hotRequestLogSampling }: Settings): RequestLog {
  function write({ startedAt, trace, ...told }: Answered): void {
    const ms = Math.round((performance.now() - startedAt) * 1_000) / 1_000
    log.info({ ...traceFields(trace), ...told, ms }, 'request')
  }
  const isOfUse = log.isLevelEnabled('info')
  const takesOther = sampler(requestLogSampling)
  const takesHot = sampler(hotRequestLogSampling)
  return {
    ...(isOfUse && requestLogSampling > 0 && { others: (answered) => takesOther() && write(answered) }),
    ...(isOfUse && hotRequestLogSampling > 0 && { hot: (describe) => takesHot() && write(describe()) }),
  }
}

/** Takes the first of each `every`. */
function sampler(every: number): () => boolean {
  let seen = 0
  return () => {
    const isTaken = seen === 0
    seen = (seen + 1) % every
    return isTaken
  }
}
