import { workloads } from '@influencer-stats/bench/tables/all'
import { parseArgs } from 'node:util'
import { services } from '../../services.ts'

export const HELP = `pnpm flame [service[/variant[/workload]]...]   flame graphs of CPU and allocations into flame/<service>/<variant>/<workload>

  --duration S   seconds of each window (5)
  --clinic       with a snapshot of clinic flame (2 MB each)
`

/**
 * What `pnpm flame` was asked for: subjects as `stats`, `stats/v1` or `sse/v4/fan-out`, none for everything.
 *
 * @throws Error naming what is wrong
 */
export function parseFlameArguments(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: {
      duration: { type: 'string', default: '5' },
      clinic: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowPositionals: true,
  })
  const duration = Number(values.duration)
  if (!(duration > 0)) throw new Error('--duration is not a number of seconds above 0')
  return { subjects: positionals, duration, clinic: values.clinic, help: values.help }
}

/** One variant of one service under one of its workloads: a row of the bench. */
export interface FlameSubject {
  readonly service: string
  readonly variant: string
  readonly work: string
}

/** Its folder below `flame/`, and what it is called in all commands. */
export const getFolder = ({ service, variant, work }: FlameSubject) => `${service}/${variant}/${work}`

/** What each variant is profiled at, the first, and the last one, which is the default, at all of them. */
const DEFAULT_WORKLOADS: Readonly<Record<string, readonly string[]>> = {
  stats: ['read'],
  sse: ['fan-out', 'connecting'],
  kv: ['put-full', 'get-full', 'put-node', 'apply-node'],
  prices: ['search', 'bulk'],
}

/** What is profiled where nothing is named. @param variants of a service, the default last */
export const listDefaultSubjects = (service: string, variants: readonly string[]): FlameSubject[] =>
  variants.flatMap((variant, i) =>
    DEFAULT_WORKLOADS[service]!.slice(0, i === variants.length - 1 ? undefined : 1).map((work) => ({
      service,
      variant,
      work,
    })),
  )

/** What is profiled of every variant of every service. */
export async function listAllSubjects(): Promise<FlameSubject[]> {
  const definitions = await Promise.all(Object.keys(workloads).map((name) => services[name]!()))
  return definitions.flatMap(({ name, variants = {} }) => listDefaultSubjects(name, Object.keys(variants)))
}

/**
 * What subjects name: a workload of the bench, or what is usual of a service or a variant; all that is usual where there
 * are none.
 *
 * @throws Error naming what there is, when there is nothing of that name
 */
export function choose(subjects: readonly string[], all: readonly FlameSubject[]): FlameSubject[] {
  if (subjects.length === 0) return [...all]
  return subjects.flatMap((subject) => {
    const found = all.filter((one) => `${getFolder(one)}/`.startsWith(`${subject}/`))
    if (found.length > 0) return found
    const [service = '', variant = '', work = ''] = subject.split('/')
    const isKnown = all.some((one) => one.service === service && one.variant === variant)
    if (isKnown && workloads[service]?.[work]) return [{ service, variant, work }]
    throw new Error(`there is no ${subject}; there are ${all.map(getFolder).join(', ')}`)
  })
}
