/** The object of a measurement: a service, one of its variants with changed settings, and one of its workloads. */
export interface Spec {
  readonly service: string
  /** Empty for all variants that have a row. */
  readonly variant: string
  readonly settings: Readonly<Record<string, string>>
  /** Name of a workload; or name of a table, in which the row has the name in `variant`. */
  readonly work?: string
}

/** Parses `stats`, `stats/v4`, `stats/v5,client=batching` or `kv/v4/get-full`. @throws Error for any other form */
export function parseSpec(text: string): Spec {
  const match = /^([a-z]+)(?:\/([A-Za-z0-9.-]+))?((?:,[A-Za-z]+=[^,/]+)*)(?:\/([a-z0-9-]+))?$/.exec(text)
  if (!match) throw new Error(`"${text}" is not service, service/variant or service/variant,part=alternative/workload`)
  const pairs = match[3]!.split(',').filter((pair) => pair !== '')
  const settings = Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]))
  return { service: match[1]!, variant: match[2] ?? '', settings, ...(match[4] && { work: match[4] }) }
}

/** Formats the name of the target: the spec without its workload. */
export function formatSpec({ service, variant, settings }: Spec): string {
  const changes = Object.entries(settings).map(([name, value]) => `,${name}=${value}`)
  return `${service}${variant ? `/${variant}` : ''}${changes.join('')}`
}

/** Formats the name of a row: the variant, or the whole name of the target if settings differ. */
export const formatLabel = (spec: Spec): string =>
  Object.keys(spec.settings).length > 0 ? formatSpec(spec) : spec.variant || 'default'

export const createSpec = (service: string, variant = '', settings: Spec['settings'] = {}): Spec => {
  return { service, variant, settings }
}
