import { formatText } from '../received-value.ts'
import { StartError } from '../errors/common-errors.ts'

/** One flag as it was written: in `--stats.port 9000`, `stats` is the service. */
export interface SettingFlag {
  readonly service: string | undefined
  /** In camel case: `--max-writes` and `--maxWrites` both give `maxWrites`. */
  readonly name: string
  readonly value: string
}

export interface StartArguments {
  /** Names of services, in the order given; empty means all. */
  readonly services: string[]
  readonly flags: SettingFlag[]
  /** True with `--verbose`: log lines do not wait for the table of running services. */
  readonly isVerbose: boolean
  /** Set if help or the version is requested instead of a start. */
  readonly instead?: 'help' | 'version'
}

const toCamelCase = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The value after `=` may be a secret, so it is not part of the message. */
function describeFlagFault(word: string, isFlag: boolean): string {
  const name = formatText(word.split('=')[0]!)
  return isFlag
    ? `${name} has no value: write ${name} VALUE or ${name}=VALUE`
    : `${name} is not a flag such as --threads 2 or --stats.threads 2`
}

/**
 * Splits a command line such as `stats --threads 2 --stats.port=9000`.
 * @throws StartError `FLAG_WRONG` for a flag without a value, or a word that begins with `-` and is not a flag
 */
export function parseArguments(argv: readonly string[]): StartArguments {
  const services: string[] = []
  const flags: SettingFlag[] = []
  const isVerbose = argv.includes('--verbose')
  const words = argv.filter((word) => word !== '--verbose')
  while (words.length > 0) {
    const word = words.shift()!
    if (word === '--help' || word === '-h') return { services, flags, isVerbose, instead: 'help' }
    if (word === '--version') return { services, flags, isVerbose, instead: 'version' }
    if (!word.startsWith('-')) {
      services.push(word)
      continue
    }
    const match = /^--(?:([a-z]+)\.)?([a-zA-Z][a-zA-Z-]*)(?:=(.*))?$/s.exec(word)
    const value = match?.[3] ?? words.shift()
    if (!match || value === undefined) throw new StartError('FLAG_WRONG', describeFlagFault(word, match !== null))
    flags.push({ service: match[1], name: toCamelCase(match[2]!), value })
  }
  return { services, flags, isVerbose }
}
