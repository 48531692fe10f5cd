import { readBootId } from '@influencer-stats/runtime/boot-id'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Logger } from './logger.ts'

// Shared functions of the state machines that use LevelDB. Each stores its position under a key, with the boot id of the
// machine at that time. LevelDB does not sync after each change, because the log has all of them.

/** Value in place of a boot id: all data is on the disk. */
export const CLEAN_BOOT = 'clean'

/** True if a power cut may have damaged the database since then: it may have a newer change without an older one. */
export const isTorn = (boot: string | undefined): boolean =>
  boot !== CLEAN_BOOT && (boot === undefined || boot !== readBootId())

/** Clears a database. The position is deleted first, with a sync: after a crash the rest is not used. */
export async function clearLevel<K, V>(level: SharedLevel<K, V>, positionKey: K): Promise<void> {
  await level.write((db) => db.del(positionKey, { sync: true }))
  await level.db.clear()
}

/** Flushes a database, then records under its position key that all data is on the disk. */
export async function markClean<K, V>(level: SharedLevel<K, V>, positionKey: K, value: V): Promise<void> {
  await level.flush()
  await level.write((db) => db.put(positionKey, value, { sync: true }))
}

/** Closes a database after its state machine has received its last entries. */
export async function closeLevel(
  stateMachine: { settle(): Promise<void> },
  level: { close(): Promise<void> },
  log: Logger,
  service: string,
): Promise<void> {
  await stateMachine
    .settle()
    .catch((error: unknown) =>
      log.warn({ err: error }, `${service}: the last entries could not be stored; the next start uses a snapshot`),
    )
  await level.close()
}
