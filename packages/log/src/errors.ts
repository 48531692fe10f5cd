import { defineErrors } from '@influencer-stats/runtime/problems'

/** What the log may answer. */
export const errors = defineErrors({
  LOG_UNAVAILABLE: { status: 503, title: 'Log unavailable; nothing was changed' },
  OUTCOME_UNKNOWN: { status: 503, title: 'Outcome unknown: the write may still be applied' },
  SEQUENCE_WAIT_TIMEOUT: { status: 503, title: 'Timeout while waiting for the sequence' },
  LEASE_LOST: { status: 503, title: 'Lease lost; nothing was changed' },
})

/** What stands in the log is none of ours, or is damaged, or is of a version that is not known here: this node must not go on. */
export class FrameError extends Error {
  readonly code: 'LOG_FORMAT_UNKNOWN' | 'LOG_DAMAGED'
  /** Of the message, where a view has looked at what was in it. */
  readonly seq: number | undefined

  constructor(code: FrameError['code'], message: string, seq?: number) {
    super(message)
    this.code = code
    this.seq = seq
  }
}

const RETRY_OPTIONS = { headers: { 'retry-after': '1' } }

export const createUnavailableError = (cause?: unknown) =>
  errors.LOG_UNAVAILABLE(undefined, { ...RETRY_OPTIONS, cause })
export const createOutcomeUnknownError = (cause?: unknown) =>
  errors.OUTCOME_UNKNOWN(undefined, { ...RETRY_OPTIONS, cause })
export const createSequenceTimeoutError = () => errors.SEQUENCE_WAIT_TIMEOUT(undefined, RETRY_OPTIONS)
export const createLeaseLostError = () => errors.LEASE_LOST(undefined, RETRY_OPTIONS)
