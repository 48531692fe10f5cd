import type { Command } from '../common/command.ts'
import { writeOut } from '../common/output.ts'
import { STALE_FLAG } from '../common/flags.ts'

/** `pnpm kv get KEY` */
export const getCommand: Command = {
  group: 'entries',
  name: 'get',
  parameters: 'KEY',
  args: [1, 1],
  description: 'bytes of a value',
  flags: { etag: { type: 'boolean', description: 'ETag instead of the value' }, stale: STALE_FLAG },
  async run({ args: [key], isSet, getClient }) {
    const value = await getClient().get(key!, { linearizable: !isSet('stale') })
    if (!value) {
      process.stderr.write(`kv: key not found: ${key}\n`)
      return 1
    }
    await writeOut([isSet('etag') ? `${value.etag}\n` : value.value])
    return 0
  },
}
