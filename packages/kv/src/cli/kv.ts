import { parseArgs } from 'node:util'
import { createKvClient, type KvClient } from '../client.ts'
import { UsageError, type Command } from './common/command.ts'
import { commands } from './commands.ts'
import { COMMON_FLAGS, formatCommandHelp, formatHelp } from './help.ts'
import { OutputClosedError } from './common/output.ts'

// `pnpm kv COMMAND`: shell access to the entries of a running service.

const DEFAULT_URL = 'http://127.0.0.1:8082'

const EXIT_FAILED = 1
const EXIT_WRONG_USAGE = 2
/** Exit status that a shell reports for a process ended by SIGPIPE: the reader closed the output. */
const EXIT_BROKEN_PIPE = 128 + 13

async function runCli([name, ...argv]: readonly string[]): Promise<number> {
  if (name === undefined) throw new UsageError('missing command; pnpm kv --help lists all commands')
  if (name === '--help' || name === 'help') {
    process.stdout.write(formatHelp(commands))
    return 0
  }
  const command = commands.find((command) => command.name === name)
  if (!command) throw new UsageError(`unknown command: ${name}; pnpm kv --help lists all commands`)
  const { values, positionals } = parseFlags(command, argv)
  if (values.help) {
    process.stdout.write(formatCommandHelp(command))
    return 0
  }
  const [min, max] = command.args
  if (positionals.length < min || positionals.length > max)
    throw new UsageError(`pnpm kv ${name} ${command.parameters}`.trimEnd())
  return runCommand(command, positionals, values)
}

type FlagValues = Readonly<Record<string, string | boolean | undefined>>

function parseFlags(command: Command, argv: readonly string[]): { values: FlagValues; positionals: string[] } {
  const flags = Object.entries({ ...command.flags, ...COMMON_FLAGS })
  const options = Object.fromEntries(flags.map(([flag, { type }]) => [flag, { type }]))
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true }) as never
  } catch (error) {
    // Only the first line states the fault: further lines contain advice.
    throw new UsageError((error as Error).message.split('\n', 1)[0])
  }
}

async function runCommand(command: Command, args: readonly string[], values: FlagValues): Promise<number> {
  const { API_TOKEN, READ_TOKEN } = process.env
  let client: KvClient | undefined
  try {
    const status = await command.run({
      args,
      getText: (flag) => values[flag] as string | undefined,
      isSet: (flag) => values[flag] === true,
      getClient: () => (client ??= createKvClient(parseUrl(values.url), { token: API_TOKEN || READ_TOKEN })),
    })
    return status ?? 0
  } finally {
    await client?.close()
  }
}

function parseUrl(value: string | boolean | undefined = DEFAULT_URL): string {
  const url = URL.parse(String(value))
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new UsageError(`--url ${value} is not an HTTP URL`)
  return url.href
}

function toExitStatus(error: unknown): number {
  if (error instanceof OutputClosedError) return EXIT_BROKEN_PIPE
  const { message, cause } = error as Error & { cause?: Error }
  process.stderr.write(`kv: ${message || (cause?.message ?? error)}\n`)
  return error instanceof UsageError ? EXIT_WRONG_USAGE : EXIT_FAILED
}

process.exitCode = await runCli(process.argv.slice(2)).catch(toExitStatus)
