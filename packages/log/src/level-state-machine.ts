import { readBootId } from '@influencer-stats/runtime/boot-id'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Logger } from './logger.ts'

// What views have in common that are bases of LevelDB: they keep how far they are under a key of their own, and with it the
// run of the machine on which that was written. LevelDB is not synced with each change, as the log has them all.

/** In place of a run: all of it is on the disk. */
export const CLEAN_BOOT = 'clean'

/** Whether a power cut may have torn it since: LevelDB may keep a newer change without an older one. */
export const isTorn = (boot: string | undefined): boolean =>
  boot !== CLEAN_BOOT && (boot === undefined || boot !== readBootId())

/** Empties a base. That it is none comes first. */
export async function clearLevel<K, V>(level: SharedLevel<K, V>, positionKey: K): Promise<void> {
  await level.write((db) => db.del(positionKey, { sync: true }))
  await level.db.clear()
}

/** Keeps under a base's own key that all of it is on the disk: it is, before that is said. */
export async function markClean<K, V>(level: SharedLevel<K, V>, positionKey: K, value: V): Promise<void> {
  await level.flush()
  await level.write((db) => db.put(positionKey, value, { sync: true }))
}

/** Closes a base once nothing comes to its view any more. */
export async function closeLevel(
  stateMachine: { settle(): Promise<void> },
  level: { close(): Promise<void> },
  log: Logger,
  service: string,
): Promise<void> {
  await stateMachine
    .settle()
    .catch((error: unknown) => log.warn({ err: error }, `${service}: what is kept starts from a snapshot next`))
  await level.close()
}
