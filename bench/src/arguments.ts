import { parseArgs } from 'node:util'
import { generators } from './load/generators.ts'
import { parsePositive, parseRateOptions, RATE_FLAGS } from './rate/rate-options.ts'
import { parseSpec } from './spec.ts'

export const HELP = `pnpm bench [service[/variant[,part=alternative]]]   measure a service
pnpm bench compare 'TABLE: A / B'                 A against B in interleaved pairs, with an interval; the name as
                                                  tables print it: 'kv/entity: GET / bare GET'. Or two rows, each
                                                  as 'kv/entity: GET' or service/variant/workload
pnpm bench guard [--base COMMIT]                  costs of this checkout against those of a commit; exit code 1 if
                                                  a row regressed; --rows NAMES, or --short for six rows.
                                                  A row that regressed gets a flame graph of the difference below
                                                  --output FOLDER (a temporary folder). --publish adds the run
                                                  to the history that the report shows
pnpm bench doctor                                 costs of this machine: system call, wake-up, sync to disk, memory;
                                                  beside those of the machines of the published results
pnpm bench texts                                  write the report and the READMEs again, from the published results

  --duration S      seconds per round (1.5)
  --rounds N        maximum rounds per row, each with a new start (3; 6 with --full for tables with ratios)
  --connections N   connections, instead of the number of the row
  --generator NAME  load generator of closed loops: raw (of this project), or autocannon as an independent check
  --pairs N         pairs of compare, at least 10 (10)
  --quick           one short round
  --latency         also print latencies, the rate of the open loop and the lateness of the generator
  --full            all tables; those of peers and growth only with their flags
  --peers           tables with installed programs that give the same answers
  --growth          tables of the cost of a request by the size of the data
  --table NAMES     only these tables, comma-separated: server-adapters, growth-keys, kv/entity
  --publish         write the results, the report and the tables of READMEs; tables of this very code that are
                    already published are not measured again, so the same command continues an interrupted run
  --again           measure published tables again
  --minutes N       begin no table that would end later than this
  --estimate        only print the tables, their rounds and their estimated durations

pnpm bench kv --rate 6000 --op put                latencies at a constant rate (open loop, as wrk2); publishes nothing,
                                                  exit code 1 if the rate was not reached

  --rate N          requests per second
  --op NAME         of kv: put, durable-put, get, delete (put); of others: a workload, as in compare
  --base N          entries of kv before the run, empty or full (empty for puts, else full)
  --connections N   connections, each with one request at a time (1)
  --seconds N       measured seconds, after a warm-up of at most 3 (10)
  --variant NAME    variant of the service
  --threads N       serving threads (1)
  --url URL         running service to load, instead of a new one; the run changes its data
`

const options = {
  duration: { type: 'string' },
  rounds: { type: 'string' },
  connections: { type: 'string' },
  generator: { type: 'string', default: 'raw' },
  table: { type: 'string' },
  pairs: { type: 'string', default: '10' },
  quick: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  peers: { type: 'boolean', default: false },
  growth: { type: 'boolean', default: false },
  latency: { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  again: { type: 'boolean', default: false },
  minutes: { type: 'string' },
  estimate: { type: 'boolean', default: false },
  ...RATE_FLAGS,
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** @throws Error if flags of runs with and without `--rate` are mixed */
function assertNotMixed(given: readonly string[]): void {
  const isAtRate = given.includes('rate')
  const other = given.find((name) => name !== 'connections' && Object.hasOwn(RATE_FLAGS, name) !== isAtRate)
  if (other !== undefined) throw new Error(`--${other} is ${isAtRate ? 'not' : 'only'} for a run with --rate`)
}

/**
 * Parses the arguments of `pnpm bench`. Without a spec, every service is measured. `duration` and `warmUp` are the
 * measured seconds of a round and the unmeasured seconds before them.
 *
 * @throws Error naming the invalid argument
 */
export function parseBenchArguments(argv: readonly string[]) {
  const { values, positionals, tokens } = parseArgs({ args: [...argv], options, allowPositionals: true, tokens: true })
  const { rate, op, base, seconds, url, variant, threads, ...usual } = values
  const { full, peers, growth, quick } = values
  const compare = positionals[0] === 'compare'
  const specs = compare ? [] : positionals.map(parseSpec)
  const compared = compare ? positionals.slice(1) : []
  if (compared.length > 2) throw new Error('compare takes two rows')
  if (!(values.generator in generators)) throw new Error(`--generator is one of ${Object.keys(generators).join(', ')}`)
  assertNotMixed(tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])))
  if (compare && rate !== undefined) throw new Error('compare has no --rate')
  const atRate = { op, base, seconds, url, variant, threads, connections: values.connections }
  const pairs = parsePositive('pairs', values.pairs, 10)
  if (pairs < 10) throw new Error('--pairs must be at least 10; fewer pairs give no useful interval')
  return {
    ...usual,
    specs,
    atRate: rate === undefined ? undefined : parseRateOptions(specs, { rate, ...atRate }),
    compare,
    compared,
    pairs,
    minutes: values.minutes === undefined ? undefined : parsePositive('minutes', values.minutes, NaN),
    generator: values.generator as keyof typeof generators,
    duration: parsePositive('duration', values.duration, quick ? 1 : 1.5),
    warmUp: full ? 2 : 1,
    rounds: parsePositive('rounds', values.rounds, quick ? 1 : full || peers || growth ? 6 : 3),
    connections: values.connections === undefined ? undefined : parsePositive('connections', values.connections, 1),
  }
}

export type BenchArguments = ReturnType<typeof parseBenchArguments>
