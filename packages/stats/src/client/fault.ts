import { Problem } from '@influencer-stats/runtime/problems'
import { errors } from '../errors.ts'

/** Whatever went wrong with a call, as `UPSTREAM_UNAVAILABLE`. Never shows the URL, which carries the key. */
export function toUpstreamProblem(fault: unknown): Problem {
  if (fault instanceof Problem) return fault
  const { code, name, cause } = (fault ?? {}) as { code?: string; name?: string; cause?: { code?: string } }
  const timedOut = name === 'TimeoutError' || /TIMEOUT|ABORTED/.test(String(code ?? cause?.code))
  const words = timedOut ? 'YouTube took too long' : 'YouTube cannot be reached'
  return errors.UPSTREAM_UNAVAILABLE(words, { cause: fault })
}
