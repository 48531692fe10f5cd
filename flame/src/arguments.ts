import { parseArgs } from 'node:util'

/** What `pnpm flame` was asked for. */
export interface FlameArguments {
  /** `stats/v1` or `stats`; empty means everything. */
  readonly subjects: readonly string[]
  /** Of each window (s). */
  readonly duration: number
  readonly help: boolean
}

export const HELP = `pnpm flame [service[/variant]...]   flame graphs of CPU and allocations into flame/<service>/<variant>

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

/** One variant of one service. */
export interface Chosen {
  readonly service: string
  readonly variant: string
}

/**
 * The variants that `subjects` name, in the table's order.
 *
 * @param variants of each service that can be profiled
 * @throws Error naming what there is, when there is no such service or variant
 */
export function choose(subjects: readonly string[], variants: ReadonlyMap<string, readonly string[]>): Chosen[] {
  const all = [...variants].flatMap(([service, names]) => names.map((variant) => ({ service, variant })))
  const names = ({ service, variant }: Chosen) => [service, `${service}/${variant}`]
  for (const subject of subjects) {
    if (all.some((one) => names(one).includes(subject))) continue
    throw new Error(`there is no ${subject}; there are ${all.map((one) => names(one)[1]).join(', ')}`)
  }
  return subjects.length === 0 ? all : all.filter((one) => names(one).some((name) => subjects.includes(name)))
}
