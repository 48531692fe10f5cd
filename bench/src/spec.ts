/** What to measure: a service, one of its variants, and settings that differ from it. */
export interface Spec {
  readonly service: string
  /** Empty: all variants that have a row. */
  readonly variant: string
  readonly settings: Readonly<Record<string, string>>
}

/** Reads `stats`, `stats/v4` or `stats/v5,client=batching`. @throws Error if it is none of these */
export function parseSpec(text: string): Spec {
  const match = /^([a-z]+)(?:\/([a-z0-9-]+))?((?:,[A-Za-z]+=[^,]+)*)$/.exec(text)
  if (!match) throw new Error(`"${text}" is not service, service/variant or service/variant,part=alternative`)
  const pairs = match[3]!.split(',').filter((pair) => pair !== '')
  const settings = Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]))
  return { service: match[1]!, variant: match[2] ?? '', settings }
}

export function nameOf({ service, variant, settings }: Spec): string {
  const changes = Object.entries(settings).map(([name, value]) => `,${name}=${value}`)
  return `${service}${variant ? `/${variant}` : ''}${changes.join('')}`
}
