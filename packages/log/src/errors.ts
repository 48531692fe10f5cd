import { defineErrors } from '@influencer-stats/runtime/problems'

/** Errors that the log may return. */
export const errors = defineErrors({
  LOG_UNAVAILABLE: { status: 503, title: 'Log unavailable; nothing was changed' },
  OUTCOME_UNKNOWN: { status: 503, title: 'Outcome unknown: the write may still be applied' },
  SEQUENCE_WAIT_TIMEOUT: { status: 503, title: 'Timeout while waiting for the sequence' },
  LEASE_LOST: { status: 503, title: 'Lease lost; nothing was changed' },
})

/**
 * A message or an entry of the log is foreign or damaged, or its format or kind is unknown. All nodes skip a message
 * that is foreign or damaged. A node must not continue after any other error.
 */
export class FrameError extends Error {
  readonly code: 'LOG_FORMAT_UNKNOWN' | 'LOG_DAMAGED' | 'LOG_FOREIGN'
  /**
   * Sequence of the message, if the thrower states it. Otherwise the applier reports the message that it assembles, or
   * the last one of its batch.
   */
  readonly seq: number | undefined

  constructor(code: FrameError['code'], message: string, seq?: number) {
    super(message)
    this.code = code
    this.seq = seq
  }
}

const RETRY_OPTIONS = { headers: { 'retry-after': '1' } }

/** @param code reason why the log is unavailable */
export const createUnavailableError = (cause?: unknown, code?: string) =>
  errors.LOG_UNAVAILABLE(code, { ...RETRY_OPTIONS, cause })
export const createOutcomeUnknownError = (cause?: unknown) =>
  errors.OUTCOME_UNKNOWN(undefined, { ...RETRY_OPTIONS, cause })
export const createSequenceTimeoutError = () => errors.SEQUENCE_WAIT_TIMEOUT(undefined, RETRY_OPTIONS)
export const createLeaseLostError = () => errors.LEASE_LOST(undefined, RETRY_OPTIONS)
