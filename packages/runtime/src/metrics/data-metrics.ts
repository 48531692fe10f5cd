import type { DataHealth } from '../level/write-health.ts'
import type { Registry } from './prom-client.ts'
import { sharedGauge } from './shared-gauge.ts'

/** Reports what is wrong with the data of a service. */
export function reportData({ damagedFiles, lostChanges }: DataHealth, registry: Registry): void {
  sharedGauge(registry, 'data_damaged_files', 'Files of the data folder that are damaged.', damagedFiles)
  sharedGauge(
    registry,
    'data_lost_changes',
    'Changes that a power cut took before the last start; none was durable.',
    lostChanges,
  )
}
