import { errors } from '../http/errors.ts'
import type { Problem } from '../http/problems.ts'

// Synchronous reads give an error of the disk no code.
const DAMAGED_CODES = new Set(['LEVEL_CORRUPTION', 'LEVEL_IO_ERROR'])
const DAMAGED_WORDS = /^(?:Corruption|IO error): /
const CLOSED_CODES = new Set(['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN', 'LEVEL_SNAPSHOT_NOT_OPEN'])

/** What a failed read of LevelDB is to who asked; nothing if the error is not LevelDB's. */
export function readFault(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', message } = error as NodeJS.ErrnoException
  // Opened anew at this very moment, after a fault.
  if (CLOSED_CODES.has(code)) return errors.STORE_FAILED(undefined, { cause: error, headers: { 'retry-after': '1' } })
  const isDamaged = DAMAGED_CODES.has(code) || DAMAGED_WORDS.test(message)
  return isDamaged ? errors.DATA_DAMAGED(undefined, { cause: error }) : undefined
}
