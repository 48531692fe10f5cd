import { holds } from '../core/condition.ts'
import { etagOf, revisionOf } from '../core/stored.ts'
import type { Commit, CommitOptions } from './commit.ts'
import { createBatch } from './level-batch.ts'
import type { Write } from './store.ts'
import { createStripes, stripesMemory } from './stripes.ts'

/** Every write is a batch of its own, many at once; those of one key follow each other. */
export function createSingleCommit(options: CommitOptions): Commit {
  const { level, gate, revisions, onCommit } = options
  const stripes = options.stripes ?? createStripes(stripesMemory(), 1)
  const writing = new Set<Promise<string | undefined>>()

  function etagAt(key: Buffer): string | undefined {
    const stored = level.db.getSync(key)
    return stored && etagOf(stored)
  }

  async function commit(write: Write, bytes: number): Promise<string | undefined> {
    try {
      const held = await stripes.of([write])
      await stripes.acquire(held)
      const { ops, condition, durable } = write
      try {
        if (condition && !holds(condition, etagAt(ops[0]!.key))) return undefined
        const revision = revisionOf(await revisions.take(1))
        const batch = await createBatch(level.db, [write], [revision])
        try {
          await level.write(() => batch.write({ sync: durable }))
        } finally {
          await batch.close()
        }
        onCommit(1)
        return revision
      } finally {
        stripes.release(held)
      }
    } finally {
      gate.leave(bytes, 1)
    }
  }

  return {
    submit(write, bytes, answer) {
      const done = commit(write, bytes)
      writing.add(done)
      const forget = () => void writing.delete(done)
      done.then(forget, forget)
      return done.then(answer)
    },
    async idle() {
      await Promise.allSettled(writing)
    },
  }
}
