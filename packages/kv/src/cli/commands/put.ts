import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { UsageError, type CommandCall, type Command } from '../common/command.ts'
import { writeOut } from '../common/output.ts'
import { WRITE_FLAGS, readNumber, readWriteOptions } from '../common/flags.ts'

/** `pnpm kv put KEY [VALUE]` */
export const putCommand: Command = {
  group: 'entries',
  name: 'put',
  parameters: 'KEY [VALUE | -]',
  args: [1, 2],
  description: 'write of a value, without VALUE from stdin; prints its ETag',
  flags: {
    file: { type: 'string', value: 'FILE', description: 'file with the value' },
    ttl: { type: 'string', value: 'SECONDS', description: 'time after which the value expires (s)' },
    ...WRITE_FLAGS,
  },
  async run(call) {
    const options = { ...readWriteOptions(call), ttl: readNumber(call, 'ttl') }
    const etag = await call.getClient().put(call.args[0]!, await readValue(call), options)
    await writeOut([`${etag}\n`])
  },
}

async function readValue({ args: [, value], getText }: CommandCall): Promise<string | Buffer> {
  const file = getText('file')
  if (file !== undefined && value !== undefined) throw new UsageError('VALUE and --file exclude each other')
  if (file !== undefined) return readFile(file)
  return value === undefined || value === '-' ? buffer(process.stdin) : value
}
