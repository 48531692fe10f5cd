import type { ConditionalOptions, KeyBounds } from '../../client.ts'
import { UsageError, type CommandCall, type Flag } from './command.ts'

/** Returns the whole number in a flag; `undefined` if the flag is absent. @throws UsageError */
export function readNumber({ getText }: CommandCall, flag: string): number | undefined {
  const value = getText(flag)
  if (value === undefined) return undefined
  if (!/^\d{1,15}$/.test(value)) throw new UsageError(`--${flag} ${value} is not a whole number`)
  return Number(value)
}

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
  return { prefix, start, end }
}

/** Flags of commands that change a value. */
export const WRITE_FLAGS: Readonly<Record<string, Flag>> = {
  durable: { type: 'boolean', description: 'exit only after the change is durable (fsync)' },
  'if-match': { type: 'string', value: 'ETAG', description: 'condition: the value has this ETag; * matches any value' },
  'if-none-match': { type: 'string', value: "'*'", description: 'condition: the key has no value' },
}

/** Returns the options that these flags set. @throws UsageError */
export function readWriteOptions({ getText, isSet }: CommandCall): ConditionalOptions {
  const noneMatch = getText('if-none-match')
  if (noneMatch !== undefined && noneMatch !== '*') throw new UsageError("--if-none-match accepts only '*'")
  return { durable: isSet('durable'), ifMatch: getText('if-match'), ifNoneMatch: noneMatch }
}
