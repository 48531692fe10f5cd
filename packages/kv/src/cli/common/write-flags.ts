import type { ConditionalOptions } from '../../client.ts'
import { UsageError, type CommandCall, type Flag } from './command.ts'

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
  const match = getText('if-match')
  return {
    durable: isSet('durable'),
    ...(match !== undefined && { ifMatch: match }),
    ...(noneMatch !== undefined && { ifNoneMatch: noneMatch }),
  }
}
