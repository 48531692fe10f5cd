import type { Command } from '../common/command.ts'

/** Creates a command for the data folder of a stopped service. It loads LevelDB only when it runs. */
const dataCommand = (name: 'check' | 'repair', description: string): Command => ({
  group: 'data folders',
  name,
  parameters: 'DIR',
  args: [1, 1],
  description,
  async run({ args }) {
    const { checkData, repairData } = await import('@influencer-stats/runtime/data-cli')
    const work = name === 'check' ? checkData : repairData
    const kv = async () => (await import('../../revision-row.ts')).revisionRow
    return work(args[0]!, ['kv'], (line) => process.stdout.write(`${line}\n`), { kv })
  },
})

/** `pnpm kv check DIR` */
export const checkCommand = dataCommand('check', 'list of all damage in a data folder; changes nothing')

/** `pnpm kv repair DIR` */
export const repairCommand = dataCommand('repair', 'copy of a damaged data folder, then salvage; lists all losses')
