import type { Command } from './command.ts'

export const checkCommand: Command = {
  group: 'data folders',
  name: 'check',
  parameters: 'DIR',
  args: [1, 1],
  description: 'list of all damage in a data folder; changes nothing',
  async run({ args }) {
    // What needs a service does not load LevelDB.
    const { checkData } = await import('@influencer-stats/runtime/data-cli')
    return checkData(args[0]!, ['kv'], (line) => process.stdout.write(`${line}\n`))
  },
}
