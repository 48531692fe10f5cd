import type { Command, Flag } from './common/command.ts'

/** Flags of every command. */
export const COMMON_FLAGS = {
  url: { type: 'string', value: 'URL', description: 'address of the service (http://127.0.0.1:8082)' },
  help: { type: 'boolean', description: 'this help text' },
} as const satisfies Record<string, Flag>

const ENVIRONMENT = `API_TOKEN is sent if it is set, READ_TOKEN otherwise.
Exit status: 0 success, 1 failure, or a get of a key without a value, 2 wrong usage, 141 closed output.
`

const INDENT = '  '

/** Formats rows as two columns. */
function formatColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return rows.map(([left, right]) => `${INDENT}${left.padEnd(width)}${right}\n`).join('')
}

const toUsage = ({ name, parameters }: Command) => (parameters === '' ? name : `${name} ${parameters}`)

const toFlagRows = (flags: Readonly<Record<string, Flag>>) =>
  Object.entries(flags).map(
    ([name, { value, description }]) => [value ? `--${name} ${value}` : `--${name}`, description] as const,
  )

/** Returns the text of `pnpm kv --help`. */
export function formatHelp(commands: readonly Command[]): string {
  const groups = [...Map.groupBy(commands, ({ group }) => group)].map(
    ([group, rows]) => `${group}:\n${formatColumns(rows.map((row) => [toUsage(row), row.description]))}\n`,
  )
  const flags = `flags:\n${formatColumns(toFlagRows(COMMON_FLAGS))}\n`
  return `pnpm kv COMMAND [--help]\n\n${groups.join('')}${flags}${ENVIRONMENT}`
}

/** Returns the text of `pnpm kv COMMAND --help`. */
export function formatCommandHelp(command: Command): string {
  const { description, flags = {} } = command
  return `pnpm kv ${toUsage(command)}\n${description}\n\nflags:\n${formatColumns(toFlagRows({ ...flags, ...COMMON_FLAGS }))}\n${ENVIRONMENT}`
}
