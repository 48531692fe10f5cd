import { workloads } from '@influencer-stats/bench/tables/all'
import { parseArgs } from 'node:util'
import { services } from '../../services.ts'
import { DIFFERENCE_HELP } from './difference-arguments.ts'
import { VARIANT_DIFFERENCE_HELP } from './variant-difference.ts'

export const HELP = `pnpm flame [service[/variant[/workload]]...]   flame graphs of CPU and allocations into flame/<service>/<variant>/<workload>

  --duration S   seconds per recording (5)
  --publish      only graphs of other code than this commit, on a quiet machine; continues after an interruption
  --check        list the graphs of other code than the table that they explain, with exit code 1; records nothing
  --clinic       also take a clinic flame snapshot (250 KB each)
  --open         open the graph PATH, such as stats/v1/read/cpu-thread-0, or the index of all graphs; records nothing

pnpm flame rename OLD NEW   change the path of a source file in all recordings
pnpm flame recount          sum the shares of components again, after a change of flame/src/components.ts

${VARIANT_DIFFERENCE_HELP}
${DIFFERENCE_HELP}`

/**
 * Parses the arguments of `pnpm flame`: names of subjects such as `stats`, `stats/v1` or `sse/v4/fan-out`. Without
 * names, all default subjects are selected.
 *
 * @throws Error naming the invalid argument
 */
export function parseFlameArguments(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: {
      duration: { type: 'string', default: '5' },
      publish: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      clinic: { type: 'boolean', default: false },
      open: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowPositionals: true,
  })
  const duration = Number(values.duration)
  if (!(duration > 0)) throw new Error('--duration is not a number of seconds above 0')
  return { ...values, subjects: positionals, duration }
}

export type FlameArguments = ReturnType<typeof parseFlameArguments>

/** The object of a flame graph: a variant of a service under one of its workloads, which is a row of a benchmark. */
export interface FlameSubject {
  readonly service: string
  readonly variant: string
  readonly work: string
}

/** Returns the folder of a subject below `flame/`, which is also its name in commands. */
export const getFolder = ({ service, variant, work }: FlameSubject) => `${service}/${variant}/${work}`

/**
 * Workloads that are profiled by default, and the table of the bench that their graphs explain: the first one for each
 * variant, and all of them for the default variant.
 */
const DEFAULT_WORKLOADS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  stats: { read: 'stats/read' },
  sse: { 'fan-out': 'sse/saturation', connecting: 'sse/connections' },
  kv: {
    'put-full': 'kv/entity',
    'get-full': 'kv/entity',
    'put-node': 'cluster/writes',
    'apply-node': 'cluster/writes',
  },
  prices: { search: 'prices/search', bulk: 'prices/bulk' },
}

/** Returns the table of the bench that the graphs of a subject explain, as `service/table`; undefined if there is none. */
export const getTable = ({ service, work }: FlameSubject): string | undefined => DEFAULT_WORKLOADS[service]?.[work]

/** Lists the default subjects of a service. @param variants variants of the service, the default last */
const listDefaultSubjects = (service: string, variants: readonly string[]): FlameSubject[] =>
  variants.flatMap((variant, i) => {
    const workNames = Object.keys(DEFAULT_WORKLOADS[service]!).slice(0, i === variants.length - 1 ? undefined : 1)
    return workNames.map((work) => ({ service, variant, work }))
  })

/** Lists the default subjects of all services. */
export async function listAllSubjects(): Promise<FlameSubject[]> {
  const definitions = await Promise.all(Object.keys(workloads).map((name) => services[name]!()))
  return definitions.flatMap(({ name, variants = {} }) => listDefaultSubjects(name, Object.keys(variants)))
}

/**
 * Returns the subjects with the given names: one subject, or the default subjects of a service or a variant. Without
 * names it returns all default subjects.
 * @param all the default subjects of all services
 *
 * @throws Error naming the valid names, if a name is unknown
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
