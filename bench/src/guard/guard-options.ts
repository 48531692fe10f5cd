import { parseArgs } from 'node:util'

/** Options of `pnpm bench guard`. */
export interface GuardOptions {
  /** A commit, or the folder of a checkout; by default the last release's tag, or the commit in `bench/guard-base`. */
  readonly base: string | undefined
  /** Names of rows; by default all, or those of the short form. */
  readonly rows: readonly string[] | undefined
  readonly isShort: boolean
  /** Folder of the flame graphs of rows that regressed; by default a new one among the temporary files. */
  readonly output: string | undefined
}

const options = {
  base: { type: 'string' },
  rows: { type: 'string' },
  output: { type: 'string' },
  short: { type: 'boolean', default: false },
} as const

/** Parses the arguments after `guard`. @throws Error naming the invalid argument */
export function parseGuardOptions(argv: readonly string[]): GuardOptions {
  const { values } = parseArgs({ args: [...argv], options })
  return { base: values.base, rows: values.rows?.split(','), isShort: values.short, output: values.output }
}
