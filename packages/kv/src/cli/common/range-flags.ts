import type { KeyBounds } from '../../client.ts'
import { UsageError, type CommandCall, type Flag } from './command.ts'

/** Flags of commands that take a range of keys. */
export const RANGE_FLAGS: Readonly<Record<string, Flag>> = {
  prefix: { type: 'string', value: 'P', description: 'keys that begin with P' },
  start: { type: 'string', value: 'S', description: 'first key' },
  end: { type: 'string', value: 'E', description: 'first key after the range' },
}

/** Flag of commands that read. */
export const STALE_FLAG: Flag = {
  type: 'boolean',
  description: 'read one node without the log; data may be stale',
}

/** Returns the range that these flags select: all keys if they are absent. @throws UsageError */
export function readRangeBounds({ getText }: CommandCall): KeyBounds {
  const [prefix, start, end] = [getText('prefix'), getText('start'), getText('end')]
  if (prefix !== undefined && (start ?? end) !== undefined)
    throw new UsageError('--prefix cannot be combined with --start or --end')
  return {
    ...(prefix !== undefined && { prefix }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
  }
}
