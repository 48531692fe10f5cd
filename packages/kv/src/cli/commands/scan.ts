import type { Command } from '../common/command.ts'
import { writeOut } from '../common/output.ts'
import { RANGE_FLAGS, readRangeBounds, STALE_FLAG } from '../common/range-flags.ts'
import { readNumber } from '../common/read-number.ts'

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
    const limit = readNumber(call, 'limit')
    const range = {
      ...readRangeBounds(call),
      ...(limit !== undefined && { limit }),
      reverse: isSet('reverse'),
      linearizable: !isSet('stale'),
    }
    if (isSet('count')) await writeOut([`${await getClient().count(range)}\n`])
    else await writeOut(await getClient().streamEntryLines({ ...range, keys: isSet('keys') }))
  },
}
