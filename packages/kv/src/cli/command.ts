import type { KvClient } from '../client.ts'

/** A flag of a command, in kebab-case. */
export interface Flag {
  readonly type: 'string' | 'boolean'
  /** What stands for its value in `--help`. */
  readonly value?: string
  /** A noun phrase under 70 characters. */
  readonly description: string
}

/** One call of a command. */
export interface Call {
  readonly args: readonly string[]
  /** A string flag without a value is absent. */
  text(flag: string): string | undefined
  isSet(flag: string): boolean
  /** A client of the service at `--url`; closed after the call. */
  client(): KvClient
}

/** A command of `pnpm kv`: a row of the table in `commands.ts`. */
export interface Command {
  readonly group: 'entries' | 'files' | 'data folders'
  readonly name: string
  /** What stands for its arguments in `--help`. */
  readonly parameters: string
  /** How many arguments it takes. */
  readonly args: readonly [min: number, max: number]
  /** A noun phrase under 70 characters. */
  readonly description: string
  readonly flags?: Readonly<Record<string, Flag>>
  /** Resolves with the exit status; 0 without one. */
  run(call: Call): Promise<number | void>
}

/** A call that does not fit its command: exit status 2. */
export class UsageError extends Error {}
