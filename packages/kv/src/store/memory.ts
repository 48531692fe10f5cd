import { createRequire } from 'node:module'
import type sortedBtree from 'sorted-btree'
import { holds } from '../core/condition.ts'
import type { Entry } from '../core/frames.ts'
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

  return {
    get: (key) => tree.get(toText(key)),
    find: (key) => tree.get(toText(Buffer.from(key))),
    async write({ ops, condition }) {
      if (condition && !holds(condition, tree.get(toText(ops[0]!.key)))) return false
      for (const op of ops) {
        // A copy: the value is a piece of what was read from a socket.
        if (op.type === 'put') tree.set(toText(op.key), Buffer.from(op.value))
        else tree.delete(toText(op.key))
      }
      return true
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
              slice.push([Buffer.from(value[0], 'latin1').toString(), value[1]])
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
