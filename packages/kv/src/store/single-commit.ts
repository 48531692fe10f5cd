import { hasEffect, evaluate, type WriteResult } from '../core/evaluate-writes.ts'
import type { Commit, CommitOptions } from './commit.ts'
import { createBatch } from './level-batch.ts'
import type { KvWrite } from './store.ts'
import { createKeyLocks, createLockMemory } from './key-locks.ts'

/**
 * Creates the commit that writes one batch per write. Batches run concurrently, except those with a common key (or with
 * keys of a common stripe: see `KeyLocks`).
 */
export function createSingleCommit(options: CommitOptions): Commit {
  const { level, limiter, revisions, recorder, ttl, onCommit } = options
  const keyLocks = options.keyLocks ?? createKeyLocks(createLockMemory(), 1)
  const writing = new Set<Promise<string | undefined>>()
  const now = () => ttl.getEvaluationTime()

  async function commit(write: KvWrite, bytes: number): Promise<string | undefined> {
    try {
      const locks = await keyLocks.getStripes([write])
      await keyLocks.acquire(locks)
      let result: WriteResult
      try {
        const first = await revisions.take(1)
        result = evaluate([write], first, (key) => level.db.getSync(key), ttl.isTimed, now)
        if (hasEffect(result)) {
          if (result.expiries?.size) ttl.enable()
          const batch = await createBatch(level.db, [write], result)
          try {
            await level.write(() => batch.write({ sync: write.durable }))
          } finally {
            ttl.onWritten(result.expiries)
            await batch.close()
          }
          onCommit(1)
        }
        recorder.recordWrites(first, [write], result)
      } catch (error) {
        recorder.recordLost()
        throw error
      } finally {
        keyLocks.release(locks)
      }
      // The reply repeats the outcome of an earlier write, which may not be durable yet.
      if (write.durable && result.replays?.has(0)) await level.sync()
      return result.outcomes[0]
    } finally {
      limiter.release(bytes, 1)
    }
  }

  async function waitUntilSettled(): Promise<void> {
    await Promise.allSettled(writing)
  }

  return {
    // Writes that wait for the same lock continue in any order.
    isOrdered: false,
    submit(write, bytes, toReply) {
      const done = commit(write, bytes)
      writing.add(done)
      const forget = () => void writing.delete(done)
      done.then(forget, forget)
      return done.then(toReply)
    },
    waitUntilSettled,
    waitUntilIdle: waitUntilSettled,
  }
}
