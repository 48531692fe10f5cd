import { commonErrors } from '../errors/common-errors.ts'
import type { Problem } from '../errors/problems.ts'

/** States of a database's writes. */
export const HEALTHY_STATE = 0
export const DISK_FULL_STATE = 1
const FAILED_STATE = 2
const READ_ONLY_STATE = 3

// Messages of LevelDB for ENOSPC, EDQUOT and EFBIG.
const NO_SPACE_MESSAGE = /No space left|quota exceeded|File too large/i
// LevelDB's message for EROFS: the system makes a disk with errors read-only.
const READ_ONLY_MESSAGE = /Read-only file system/i
const RETRY_HEADERS = { headers: { 'retry-after': '1' } }

/** Returns the problem of a refused write in a state other than `HEALTHY_STATE`. */
export const createWriteProblem = (kind: number): Problem =>
  kind === DISK_FULL_STATE
    ? commonErrors.DISK_FULL(undefined, RETRY_HEADERS)
    : commonErrors.STORE_FAILED(kind === READ_ONLY_STATE ? 'the disk is read-only (EROFS)' : undefined, RETRY_HEADERS)

/** Returns the state after a failed write. @param error of LevelDB */
export function toFaultState(error: unknown): number {
  const { message, cause } = error as Error & { cause?: Error }
  const text = `${message} ${cause?.message}`
  if (NO_SPACE_MESSAGE.test(text)) return DISK_FULL_STATE
  return READ_ONLY_MESSAGE.test(text) ? READ_ONLY_STATE : FAILED_STATE
}
