import { FrameError } from '../errors.ts'
import type { LogEntry } from '../log.ts'

/**
 * Returns the value of an entry: the value that a local log passes, or the decoded body.
 * @throws FrameError `LOG_DAMAGED`
 */
export function readEntry<T>({ seq, body, value }: LogEntry, decode: (body: Buffer) => T): T {
  if (value !== undefined) return value as T
  try {
    return decode(body)
  } catch (error) {
    throw new FrameError('LOG_DAMAGED', (error as Error).message, seq)
  }
}
