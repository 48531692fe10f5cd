import { parseArgs } from 'node:util'

/** What `pnpm bench` was asked for. */
export interface BenchArguments {
  /** Empty: every service. */
  readonly specs: readonly string[]
  readonly compare: boolean
  /** Seconds of a round. */
  readonly duration: number
  readonly rounds: number
  /** Of the open loop. */
  readonly openRounds: number
  readonly warmUp: number
  readonly pairs: number
  /** In place of those of the row. */
  readonly connections: number | undefined
  /** In place of the scenario's own. */
  readonly generator: string | undefined
  readonly full: boolean
  /** The name of the only table wanted, whether it belongs to `--full` or not. */
  readonly table: string | undefined
  readonly publish: boolean
  readonly help: boolean
}

export const HELP = `pnpm bench [service[/variant[,part=alternative]]]   measure, at most two minutes a service
pnpm bench compare A B                            A against B in interleaved pairs, with an interval

  --duration S      seconds of a round (1.5)
  --rounds N        rounds of each row (3; 7 with --full)
  --connections N   in place of those of the row
  --generator NAME  autocannon (default; raw for kv and prices), raw or wrk: for the closed loop
  --pairs N         of compare, at least 10 (10)
  --quick           one short round
  --full            every row of the sources' tables
  --table NAME      this table alone: door, connections
  --publish         write the results, the report and the tables of the READMEs
`

const options = {
  duration: { type: 'string' },
  rounds: { type: 'string' },
  connections: { type: 'string' },
  generator: { type: 'string' },
  table: { type: 'string' },
  pairs: { type: 'string', default: '10' },
  quick: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

function positive(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text)
  if (!(value > 0)) throw new Error(`--${name} is not a number above 0`)
  return value
}

/** @throws Error naming what is wrong */
export function parseBenchArguments(argv: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
  const compare = positionals[0] === 'compare'
  const specs = compare ? positionals.slice(1) : positionals
  if (compare && specs.length !== 2) throw new Error('compare takes two: pnpm bench compare stats/v4 stats/v5')
  const pairs = positive('pairs', values.pairs, 10)
  if (pairs < 10) throw new Error('--pairs: fewer than 10 give no interval worth the name')
  const rounds = positive('rounds', values.rounds, values.quick ? 1 : values.full ? 7 : 3)
  return {
    specs,
    compare,
    duration: positive('duration', values.duration, values.quick ? 1 : 1.5),
    rounds,
    openRounds: Math.max(1, Math.floor(rounds / 2)),
    warmUp: values.full ? 2 : 1,
    pairs,
    connections: values.connections === undefined ? undefined : positive('connections', values.connections, 1),
    generator: values.generator,
    full: values.full,
    table: values.table,
    publish: values.publish,
    help: values.help,
  }
}
