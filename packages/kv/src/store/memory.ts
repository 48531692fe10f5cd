import { createRequire } from 'node:module'
import type sortedBtree from 'sorted-btree'
import { holds } from '../core/condition.ts'
import type { Entry } from '../core/frames.ts'
import { beforeFirst, etagOf, revisionOf, toStored, valueOf } from '../core/stored.ts'
import type { Store } from './store.ts'

// A CommonJS module whose default export Node and vitest unwrap differently.
const require = createRequire(import.meta.url)
const { default: BTree } = require('sorted-btree') as typeof sortedBtree
const SLICE = 1_000

// Strings of one character a byte compare as their bytes do.
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const toText = (key: Buffer) => key.toString('latin1')

/** A sorted tree in memory: what HTTP alone costs. Known to one thread, gone with the process. */
export function createMemoryStore(): Store {
  const tree = new BTree<string, Buffer>(undefined, compare)
  let given = beforeFirst()

  function etagAt(key: Buffer): string | undefined {
    const stored = tree.get(toText(key))
    return stored && etagOf(stored)
  }

  return {
    find: (key) => tree.get(toText(Buffer.from(key))),
    async write({ ops, condition }, answer) {
      if (condition && !holds(condition, etagAt(ops[0]!.key))) return answer(undefined)
      const revision = revisionOf(++given)
      for (const op of ops) {
        if (op.type === 'put') tree.set(toText(op.key), toStored(revision, op.value))
        else tree.delete(toText(op.key))
      }
      return answer(revision)
    },
    scan({ start, end, limit = Infinity }) {
      // Copies nothing now: nodes that change later are copied then.
      const entries = tree.clone().entries(toText(start))
      const stop = end && toText(end)
      let left = limit
      return {
        async next() {
          const slice: Entry[] = []
          while (slice.length < SLICE && left > 0) {
            const { value, done } = entries.next()
            if (done || (stop !== undefined && value[0] >= stop)) left = 0
            else {
              slice.push([Buffer.from(value[0], 'latin1').toString(), valueOf(value[1])])
              left--
            }
          }
          return slice
        },
        async close() {
          left = 0
        },
      }
    },
    async close() {},
  }
}
