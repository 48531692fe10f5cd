import type { DataHealth } from '../level/write-health.ts'
import { registerGauge } from './gauge.ts'
import type { Registry } from './prom-client.ts'

/** Reports damage and losses of the data of a service. */
export function registerDataMetrics(
  { countDamagedFiles: damagedFiles, countLostChanges: lostChanges }: DataHealth,
  registry: Registry,
): void {
  registerGauge(registry, 'data_damaged_files', 'Files of the data folder that are damaged.', damagedFiles, 'first')
  registerGauge(
    registry,
    'data_lost_changes',
    'Changes that a power cut took before the last start; none was durable.',
    lostChanges,
    'first',
  )
}
