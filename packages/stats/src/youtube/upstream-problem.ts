import { Problem } from '@influencer-stats/runtime/problems'
import { errors } from '../errors.ts'
import type { UpstreamFault } from '../core/circuit-breaker.ts'
import { remedies } from './error-reply.ts'

interface SystemErrorLike {
  readonly code?: string
  readonly name?: string
  readonly syscall?: string
  readonly cause?: SystemErrorLike
  /** Faults of an attempt at several addresses. */
  readonly errors?: readonly SystemErrorLike[]
}

/** Code of a call that was aborted before it was sent. */
export const NOT_SENT_CODE = 'NOT_SENT'

/** True if a call never reached YouTube, and so cost no quota: no address, no connection, or not sent in time. */
export function isConnectError(fault: unknown): boolean {
  const { code, syscall, cause, errors: attempts } = (fault ?? {}) as SystemErrorLike
  if (fault instanceof Problem) return false
  if (code === NOT_SENT_CODE || code === 'UND_ERR_CONNECT_TIMEOUT') return true
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true
  return attempts ? attempts.every(isConnectError) : cause !== undefined && isConnectError(cause)
}

/** `UPSTREAM_UNAVAILABLE`, with the cause and the remedy for clients. */
export class UpstreamProblem extends Problem {
  readonly fault: UpstreamFault

  constructor(fault: UpstreamFault, cause?: string) {
    const { reason, remedy } = fault
    const kind = errors.UPSTREAM_UNAVAILABLE
    super(kind.code, kind, fault.detail, { cause, members: { ...(reason && { reason }), remedy } })
    this.fault = fault
  }
}

/** Creates the problem for a reply that does not conform to the API. */
export const createUnreadableReply = (detail: string): UpstreamProblem =>
  new UpstreamProblem({ kind: 'server', detail, remedy: remedies.server })

/**
 * Returns the fault of a failed call. A problem other than `UpstreamProblem` originates on this machine, such as a quota
 * that cannot be counted. It is treated as a fault of the kind `server`.
 */
export const toUpstreamFault = (problem: Problem): UpstreamFault =>
  problem instanceof UpstreamProblem
    ? problem.fault
    : { kind: 'server', detail: problem.message, remedy: remedies.server }

/**
 * Returns a problem for a fault of a call: a `Problem` unchanged, any other fault as `UPSTREAM_UNAVAILABLE`. Only the
 * code of the other fault remains, because the rest may contain the URL, which includes the key.
 */
export function toUpstreamProblem(fault: unknown): Problem {
  if (fault instanceof Problem) return fault
  const { code, name, cause } = (fault ?? {}) as SystemErrorLike
  const kind = String(code ?? cause?.code ?? name)
  const timedOut = name === 'TimeoutError' || /TIMEOUT|ABORT|NOT_SENT/.test(kind)
  const detail = timedOut ? 'YouTube did not respond in time' : 'YouTube is unreachable'
  return new UpstreamProblem({ kind: 'network', reason: toCode(kind), detail, remedy: remedies.network }, kind)
}

const toCode = (kind: string) => (/^[A-Z][A-Z_]{2,40}$/.test(kind) ? kind : undefined)
