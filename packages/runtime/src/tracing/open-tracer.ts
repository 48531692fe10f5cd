import type { Logger } from 'pino'
import { VERSION } from '../version.ts'
import type { Registry } from '../metrics/prom-client.ts'
import type { CommonSettings } from '../settings/settings.ts'
import type { Tracer } from './tracer.ts'

/**
 * Creates the tracer of this thread. Undefined if the settings name no collector; the code of the tracer is then not
 * loaded.
 */
export async function openTracer(
  service: string,
  { otlpEndpoint: endpoint, otlpHeaders: headers, traceSample }: CommonSettings,
  log: Logger,
  registry: Registry,
): Promise<Tracer | undefined> {
  if (endpoint === '') return undefined
  const { createTracer } = await import('./tracer.ts')
  return createTracer({ endpoint, headers, service, version: VERSION.version, log, registry }, { traceSample })
}
