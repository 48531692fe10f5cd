import { readBootId } from '@influencer-stats/runtime/boot-id'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'

// A node stores its position with the boot id of the machine at the time of the write: the system assigns a new one at
// every start of the machine. Writes are not synced to the disk: after a power cut, the node reads the lost changes
// from the log again.

/** Value in place of a boot id: all data was synced to the disk, so a power cut cannot damage it. */
export const CLEAN_BOOT = 'clean'

/**
 * True if the machine may have restarted since the position was stored, unless all data was synced then. After a power
 * cut, the database may have a newer change without an older one, so the caller must clear it.
 * @param boot boot id in the stored position; undefined if the system had none
 */
export const isTorn = (boot: string | undefined): boolean =>
  boot !== CLEAN_BOOT && (boot === undefined || boot !== readBootId())

/**
 * Clears a database. The position is deleted first, with a sync: if the process stops before the end, the next start
 * finds no position and ignores the remaining entries.
 */
export async function clearLevel<K, V>(level: SharedLevel<K, V>, positionKey: K): Promise<void> {
  await level.write((db) => db.del(positionKey, { sync: true }))
  await level.db.clear()
}
