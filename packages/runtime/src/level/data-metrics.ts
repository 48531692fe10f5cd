import type { DataHealth } from './write-health.ts'
import { registerGauge } from '../metrics/gauge.ts'
import type { Registry } from '../metrics/prom-client.ts'

/** Registers the metrics for damage and losses of the data of a service. */
export function registerDataMetrics({ countDamagedFiles, countLostChanges }: DataHealth, registry: Registry): void {
  registerGauge(registry, 'data_damaged_files', 'Damaged files of the data folder.', countDamagedFiles, 'first')
  registerGauge(
    registry,
    'data_lost_changes',
    'Changes that a power cut before the last start lost; none of them was durable.',
    countLostChanges,
    'first',
  )
}
