import type { Command } from '../common/command.ts'

/** `pnpm kv allow-writes` */
export const allowWritesCommand: Command = {
  group: 'files',
  name: 'allow-writes',
  parameters: '',
  args: [0, 0],
  description: 'end of a stop of writes by export --stop-writes',
  run: ({ getClient }) => getClient().setWritesStopped(false),
}
