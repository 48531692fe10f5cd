import type { Command } from '../common/command.ts'
import { writeOut } from '../common/output.ts'
import { RANGE_FLAGS, STALE_FLAG, readNumber, readRangeBounds } from '../common/flags.ts'

/** `pnpm kv scan` */
export const scanCommand: Command = {
  group: 'entries',
  name: 'scan',
  parameters: '',
  args: [0, 0],
  description: 'entries in the order of their keys, as NDJSON',
  flags: {
    ...RANGE_FLAGS,
    limit: { type: 'string', value: 'N', description: 'maximum number of entries' },
    keys: { type: 'boolean', description: 'keys without values' },
    reverse: { type: 'boolean', description: 'descending order of keys' },
    count: { type: 'boolean', description: 'number of entries instead of the entries' },
    stale: STALE_FLAG,
  },
  async run(call) {
    const { isSet, getClient } = call
    const range = {
      ...readRangeBounds(call),
      limit: readNumber(call, 'limit'),
      reverse: isSet('reverse'),
      linearizable: !isSet('stale'),
    }
    if (isSet('count')) await writeOut([`${await getClient().count(range)}\n`])
    else await writeOut(await getClient().streamEntryLines({ ...range, keys: isSet('keys') }))
  },
}
