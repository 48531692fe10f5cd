import { hasEffect, isReplay, judge, type Judgement } from '../core/judge.ts'
import type { Commit, CommitOptions } from './commit.ts'
import { createBatch } from './level-batch.ts'
import type { Write } from './store.ts'
import { createStripes, stripesMemory } from './stripes.ts'

/** Every write is a batch of its own, many at once; those of one key follow each other. */
export function createSingleCommit(options: CommitOptions): Commit {
  const { level, gate, revisions, recorder, expiring, onCommit } = options
  const stripes = options.stripes ?? createStripes(stripesMemory(), 1)
  const writing = new Set<Promise<string | undefined>>()
  const now = () => expiring.judgementTime()

  async function commit(write: Write, bytes: number): Promise<string | undefined> {
    try {
      const held = await stripes.of([write])
      await stripes.acquire(held)
      let judged: Judgement
      try {
        const first = await revisions.take(1)
        judged = judge([write], first, (key) => level.db.getSync(key), expiring.isTimed, now)
        if (hasEffect(judged)) {
          if (judged.expiries?.size) expiring.begin()
          const batch = await createBatch(level.db, [write], judged)
          try {
            await level.write(() => batch.write({ sync: write.durable }))
          } finally {
            expiring.wrote(judged.expiries)
            await batch.close()
          }
          onCommit(1)
        }
        recorder.wrote(first, [write], judged)
      } catch (error) {
        recorder.lost()
        throw error
      } finally {
        stripes.release(held)
      }
      // The earlier write may not have been durable.
      if (write.durable && isReplay(write, 0, judged)) await level.sync()
      return judged.outcomes[0]
    } finally {
      gate.leave(bytes, 1)
    }
  }

  async function settled(): Promise<void> {
    await Promise.allSettled(writing)
  }

  return {
    // Writes that wait for the same stripe wake up in any order.
    keepsOrder: false,
    submit(write, bytes, answer) {
      const done = commit(write, bytes)
      writing.add(done)
      const forget = () => void writing.delete(done)
      done.then(forget, forget)
      return done.then(answer)
    },
    settled,
    idle: settled,
  }
}
