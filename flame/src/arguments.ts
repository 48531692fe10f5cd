import { parseArgs } from 'node:util'

/** What `pnpm flame` was asked for. */
export interface FlameArguments {
  /** `stats`, `stats/v1` or `sse/v4/fan-out`; empty means everything. */
  readonly subjects: readonly string[]
  /** Of each window (s). */
  readonly duration: number
  readonly help: boolean
}

export const HELP = `pnpm flame [service[/variant[/workload]]...]   flame graphs of CPU and allocations into flame/<service>/<variant>

  --duration S   seconds of each window (5)
`

/** @throws Error naming what is wrong */
export function parseFlameArguments(argv: readonly string[]): FlameArguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { duration: { type: 'string', default: '5' }, help: { type: 'boolean', short: 'h', default: false } },
    allowPositionals: true,
  })
  const duration = Number(values.duration)
  if (!(duration > 0)) throw new Error('--duration is not a number of seconds above 0')
  return { subjects: positionals, duration, help: values.help }
}

/** One variant of one service under one of its workloads. */
export interface Chosen {
  readonly service: string
  readonly variant: string
  /** Empty where the service has but one. */
  readonly workload: string
}

/** Its folder below `flame/`, which is also its name. */
export const folderOf = ({ service, variant, workload }: Chosen) =>
  [service, variant, workload].filter(Boolean).join('/')

/**
 * What `subjects` name of all there is, in its order; a service or a variant stands for all below it.
 *
 * @throws Error naming what there is, when there is nothing of that name
 */
export function choose(subjects: readonly string[], all: readonly Chosen[]): Chosen[] {
  const isNamed = (one: Chosen, subject: string) => `${folderOf(one)}/`.startsWith(`${subject}/`)
  for (const subject of subjects) {
    if (all.some((one) => isNamed(one, subject))) continue
    throw new Error(`there is no ${subject}; there are ${all.map(folderOf).join(', ')}`)
  }
  return all.filter((one) => subjects.length === 0 || subjects.some((subject) => isNamed(one, subject)))
}
