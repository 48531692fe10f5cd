import { resolveConfigs } from '@influencer-stats/runtime/resolve-config'
import { services } from '../../../services.ts'
import { formatSpec, type Spec } from '../spec.ts'

/**
 * Checks the variants and settings of services, without a start of them.
 * @throws Error naming the first wrong one, and the valid names
 */
export async function assertKnownSpecs(specs: readonly Spec[]): Promise<void> {
  for (const spec of specs) {
    const { service, variant, settings } = spec
    const flags = Object.entries({ ...settings, ...(variant && { variant }) }).map(([name, value]) => {
      return { service, name, value }
    })
    if (flags.length === 0) continue
    const load = services[service]
    if (!load) throw new Error(`${formatSpec(spec)}: ${service} has no variants and no settings`)
    resolveConfigs([await load()], flags, {})
  }
}
