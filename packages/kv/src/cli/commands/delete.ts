import type { Command } from '../common/command.ts'
import { WRITE_FLAGS, readWriteOptions } from '../common/flags.ts'

/** `pnpm kv delete KEY` */
export const deleteCommand: Command = {
  group: 'entries',
  name: 'delete',
  parameters: 'KEY',
  args: [1, 1],
  description: 'deletion of a value; no error if it does not exist',
  flags: { durable: WRITE_FLAGS.durable!, 'if-match': WRITE_FLAGS['if-match']! },
  run: (call) => call.getClient().delete(call.args[0]!, readWriteOptions(call)),
}
