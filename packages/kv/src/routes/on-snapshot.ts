import type { Wanted } from '@influencer-stats/log/replica'
import type { FastifyReply } from 'fastify'
import type { Snapshot, Store } from '../store/store.ts'

/**
 * Reads from a snapshot that is as fresh as the client requires, and names its sequence in the reply.
 * @throws LOG_BEHIND, LOG_UNAVAILABLE
 */
export async function onSnapshot<T>(
  store: Store,
  wanted: Wanted | undefined,
  reply: FastifyReply,
  read: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  if (wanted) await store.replica?.seen(wanted)
  const snapshot = store.snapshot()
  if (snapshot.sequence !== undefined) reply.header('sequence', snapshot.sequence)
  try {
    return await read(snapshot)
  } finally {
    await snapshot.close()
  }
}
