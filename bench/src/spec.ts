/** What to measure: a service, one of its variants with settings that differ from it, and one of its workloads. */
export interface Spec {
  readonly service: string
  /** Empty: all variants that have a row. */
  readonly variant: string
  readonly settings: Readonly<Record<string, string>>
  /** A workload; or the table that has a row of the variant's name. */
  readonly work?: string
}

/** Reads `stats`, `stats/v4`, `stats/v5,client=batching` or `kv/v4/get-full`. @throws Error if it is none of these */
export function parseSpec(text: string): Spec {
  const match = /^([a-z]+)(?:\/([A-Za-z0-9.-]+))?((?:,[A-Za-z]+=[^,/]+)*)(?:\/([a-z0-9-]+))?$/.exec(text)
  if (!match) throw new Error(`"${text}" is not service, service/variant or service/variant,part=alternative/workload`)
  const pairs = match[3]!.split(',').filter((pair) => pair !== '')
  const settings = Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]))
  return { service: match[1]!, variant: match[2] ?? '', settings, ...(match[4] && { work: match[4] }) }
}

/** Without its workload: what the contender is called. */
export function formatSpec({ service, variant, settings }: Spec): string {
  const changes = Object.entries(settings).map(([name, value]) => `,${name}=${value}`)
  return `${service}${variant ? `/${variant}` : ''}${changes.join('')}`
}

/** How a row is called in a table of its service: by its variant, or in full where settings differ. */
export const formatLabel = (spec: Spec): string =>
  Object.keys(spec.settings).length > 0 ? formatSpec(spec) : spec.variant || 'default'

/** A service's variant. */
export const createSpec = (service: string, variant = '', settings: Spec['settings'] = {}): Spec => {
  return { service, variant, settings }
}
