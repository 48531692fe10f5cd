import type { KvClient } from '../../client.ts'

/** A flag of a command, in kebab-case. */
export interface Flag {
  readonly type: 'string' | 'boolean'
  /** Placeholder for the value in `--help`. */
  readonly value?: string
  /** A noun phrase under 70 characters. */
  readonly description: string
}

/** One call of a command. */
export interface CommandCall {
  readonly args: readonly string[]
  /** Returns the value of a string flag; `undefined` if the flag is absent. */
  getText(flag: string): string | undefined
  /** True if a boolean flag is present. */
  isSet(flag: string): boolean
  /** Returns the client of the service at `--url`. All calls return the same one, which is closed after the command. */
  getClient(): KvClient
}

/** A command of `pnpm kv`: a row of the table in `commands.ts`. */
export interface Command {
  readonly group: 'entries' | 'files' | 'data folders'
  readonly name: string
  /** Placeholder for the arguments in `--help`. */
  readonly parameters: string
  /** Minimum and maximum number of arguments. */
  readonly args: readonly [min: number, max: number]
  /** A noun phrase under 70 characters. */
  readonly description: string
  readonly flags?: Readonly<Record<string, Flag>>
  /** Resolves with the exit status; 0 if it is undefined. */
  run(call: CommandCall): Promise<number | void>
}

/** Wrong usage of a command: exit status 2. */
export class UsageError extends Error {}
