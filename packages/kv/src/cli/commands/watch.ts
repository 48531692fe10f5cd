import type { KvClient, WatchOptions } from '../../client.ts'
import { toExpireLine, toExpiryField, toPutLine, quoteInLine } from '../../core/change-lines.ts'
import type { Command } from '../common/command.ts'
import { writeOut } from '../common/output.ts'
import { RANGE_FLAGS, readNumber, readRangeBounds } from '../common/flags.ts'

/** `pnpm kv watch` */
export const watchCommand: Command = {
  group: 'entries',
  name: 'watch',
  parameters: '',
  args: [0, 0],
  description: 'stream of changes as NDJSON, with their sequence',
  flags: {
    ...RANGE_FLAGS,
    after: { type: 'string', value: 'SEQUENCE', description: 'sequence after which the stream begins' },
  },
  async run(call) {
    const options = { ...readRangeBounds(call), after: readNumber(call, 'after') }
    await writeOut(streamChangeLines(call.getClient(), options))
  },
}

/** Yields the changes of each sequence as lines. Each line has the sequence as a further field. */
async function* streamChangeLines(client: KvClient, options: WatchOptions): AsyncGenerator<string> {
  for await (const { sequence, changes } of client.watch(options)) {
    const sequenceField = `,"sequence":${sequence}`
    const lines = changes.map((change) => {
      if (change.op === 'delete') return `{"op":"delete","id":${quoteInLine(change.id)}${sequenceField}}\n`
      const expiry = toExpiryField(change.expiresAt)
      return change.op === 'put'
        ? toPutLine(change.id, change.value, expiry + sequenceField)
        : toExpireLine(change.id, expiry, sequenceField)
    })
    if (lines.length > 0) yield lines.join('')
  }
}
