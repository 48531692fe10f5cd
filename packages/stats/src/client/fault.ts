import { Problem } from '@influencer-stats/runtime/problems'
import { errors } from '../errors.ts'

interface Fault {
  readonly code?: string
  readonly name?: string
  readonly syscall?: string
  readonly cause?: Fault
  /** Of an attempt at several addresses. */
  readonly errors?: readonly Fault[]
}

/** The code of a call that was given up before it was sent. */
export const NOT_SENT = 'NOT_SENT'

/** Whether a call never left this machine for YouTube: no address, no connection. It costs no quota. */
export function reachedNobody(fault: unknown): boolean {
  const { code, syscall, cause, errors: attempts } = (fault ?? {}) as Fault
  if (fault instanceof Problem) return false
  if (code === NOT_SENT || code === 'UND_ERR_CONNECT_TIMEOUT') return true
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true
  return attempts ? attempts.every(reachedNobody) : cause !== undefined && reachedNobody(cause)
}

/**
 * Whatever went wrong with a call, as `UPSTREAM_UNAVAILABLE`. Of its cause only the code is kept: the rest may show the
 * URL, which carries the key.
 */
export function toUpstreamProblem(fault: unknown): Problem {
  if (fault instanceof Problem) return fault
  const { code, name, cause } = (fault ?? {}) as Fault
  const kind = String(code ?? cause?.code ?? name)
  const timedOut = name === 'TimeoutError' || /TIMEOUT|ABORT|NOT_SENT/.test(kind)
  const words = timedOut ? 'YouTube took too long' : 'YouTube cannot be reached'
  return errors.UPSTREAM_UNAVAILABLE(words, { cause: kind })
}
