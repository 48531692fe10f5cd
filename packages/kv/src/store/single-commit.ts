import { holds } from '../core/condition.ts'
import type { Commit, CommitOptions } from './commit.ts'
import type { Write } from './store.ts'
import { createStripes, stripesMemory } from './stripes.ts'

/** Every write is a batch of its own, many at once; those of one key follow each other. */
export function createSingleCommit(options: CommitOptions): Commit {
  const { level, gate, onCommit } = options
  const stripes = options.stripes ?? createStripes(stripesMemory(), 1)
  const writing = new Set<Promise<boolean>>()

  async function commit(write: Write, bytes: number): Promise<boolean> {
    const held = stripes.of([write])
    try {
      await stripes.acquire(held)
      const { ops, condition, durable } = write
      try {
        if (condition && !holds(condition, level.db.getSync(ops[0]!.key))) return false
        await level.write((db) => db.batch([...ops], { sync: durable }))
        onCommit(1)
        return true
      } finally {
        stripes.release(held)
      }
    } finally {
      gate.leave(bytes)
    }
  }

  return {
    submit(write, bytes) {
      const done = commit(write, bytes)
      writing.add(done)
      const forget = () => void writing.delete(done)
      done.then(forget, forget)
      return done
    },
    async idle() {
      await Promise.allSettled(writing)
    },
  }
}
