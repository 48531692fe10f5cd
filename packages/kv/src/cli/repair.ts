import type { Command } from './command.ts'

export const repairCommand: Command = {
  group: 'data folders',
  name: 'repair',
  parameters: 'DIR',
  args: [1, 1],
  description: 'copy of a damaged data folder, salvage and list of the loss',
  async run({ args }) {
    const { repairData } = await import('@influencer-stats/runtime/data-cli')
    return repairData(args[0]!, ['kv'], (line) => process.stdout.write(`${line}\n`))
  },
}
