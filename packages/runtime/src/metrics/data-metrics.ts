import type { DataHealth } from '../level/write-health.ts'
import { gauge } from './gauge.ts'
import type { Registry } from './prom-client.ts'

/** Reports damage and losses of the data of a service. */
export function reportData({ damagedFiles, lostChanges }: DataHealth, registry: Registry): void {
  gauge(registry, 'data_damaged_files', 'Files of the data folder that are damaged.', damagedFiles, 'first')
  gauge(
    registry,
    'data_lost_changes',
    'Changes that a power cut took before the last start; none was durable.',
    lostChanges,
    'first',
  )
}
