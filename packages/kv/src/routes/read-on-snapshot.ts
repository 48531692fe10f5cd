import type { ReadConsistency } from '@influencer-stats/log/replica'
import type { FastifyReply } from 'fastify'
import type { KvSnapshot, KvStore } from '../store/store.ts'

/**
 * Reads from a snapshot with the consistency that the client requires. Adds the sequence of the snapshot to the headers
 * of the reply.
 * @throws SEQUENCE_WAIT_TIMEOUT, LOG_UNAVAILABLE
 */
export async function readOnSnapshot<T>(
  store: KvStore,
  consistency: ReadConsistency | undefined,
  reply: FastifyReply,
  read: (snapshot: KvSnapshot) => Promise<T>,
): Promise<T> {
  if (consistency) await store.replica?.waitForConsistency(consistency)
  const snapshot = store.snapshot()
  if (snapshot.sequence !== undefined) reply.header('sequence', snapshot.sequence)
  try {
    return await read(snapshot)
  } finally {
    await snapshot.close()
  }
}
