import { createRequire } from 'node:module'
import type sortedBtree from 'sorted-btree'
import type { Entry } from '../core/frames.ts'
import { judge } from '../core/judge.ts'
import { dueRange, expiryKey, readDue, timeOf, type Due } from '../core/own-keys.ts'
import { toStored, valueOf } from '../core/stored.ts'
import type { Recorder } from '../watch/recorder.ts'
import { Expiring, putOwn } from './expiries.ts'
import { createRevisions } from './revisions.ts'
import type { Answer, Range, Scan, Store, Write } from './store.ts'
import { createSweeper } from './sweeper.ts'

// A CommonJS module whose default export Node and vitest unwrap differently.
const require = createRequire(import.meta.url)
const { default: BTree } = require('sorted-btree') as typeof sortedBtree
const SLICE = 1_000

// Strings of one character a byte compare as their bytes do.
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const toText = (key: Buffer) => key.toString('latin1')
/** Where the service's own keys begin. */
const OWN = '\xff'

export interface MemoryStoreOptions {
  readonly revisions: { readonly memory: SharedArrayBuffer }
  readonly recorder: Recorder
  readonly expiring: SharedArrayBuffer
}

/** A sorted tree in memory: what HTTP alone costs. Known to one thread, gone with the process. */
export function createMemoryStore({ revisions: { memory }, recorder, ...options }: MemoryStoreOptions): Store {
  const tree = new BTree<string, Buffer>(undefined, compare)
  const revisions = createRevisions(memory, async () => {})
  const expiring = new Expiring(options.expiring)
  const get = (key: Buffer) => tree.get(toText(key))
  const target = {
    put: (key: Buffer, value: Buffer) => tree.set(toText(key), value),
    del: (key: Buffer) => tree.delete(toText(key)),
  }
  const sweeper = createSweeper({ expiring, due, write })

  async function write<T>(one: Write, answer: Answer<T>): Promise<T> {
    // There is always one: see `passingRevisions`.
    const first = revisions.take(1) as number
    const judged = judge([one], first, get, expiring.isTimed)
    const [revision] = judged.effects
    if (judged.expiries?.size) expiring.begin()
    for (const op of revision === undefined ? [] : one.ops) {
      if (op.type === 'put') target.put(op.key, toStored(revision!, op.value))
      else target.del(op.key)
    }
    putOwn(judged, target)
    recorder.wrote(first, [one], judged)
    return answer(judged.outcomes[0])
  }

  async function due(upTo: number, limit: number): Promise<Due[]> {
    const { gte, lt } = dueRange(upTo)
    const found: Due[] = []
    for (const key of tree.keys(toText(gte))) {
      if (found.length === limit || key >= toText(lt)) break
      found.push(readDue(Buffer.from(key, 'latin1')))
    }
    return found
  }

  function expiryOf(base: typeof tree, key: Buffer): { expiresAt?: number } {
    const time = expiring.isTimed ? base.get(toText(expiryKey(key))) : undefined
    return time ? { expiresAt: timeOf(time) } : {}
  }

  function scanTree(base: typeof tree, { start, end, limit = Infinity, reverse, keysOnly }: Range): Scan {
    const [first, stop] = [toText(start), end ? toText(end) : OWN]
    const entries = reverse ? base.entriesReversed(stop, undefined, true) : base.entries(first)
    let left = limit
    return {
      async next() {
        const slice: Entry[] = []
        while (slice.length < SLICE && left > 0) {
          const { value, done } = entries.next()
          if (done || (reverse ? value[0] < first : value[0] >= stop)) left = 0
          else {
            const key = Buffer.from(value[0], 'latin1')
            const entry = [key.toString(), keysOnly ? '' : valueOf(value[1])] as const
            const { expiresAt } = expiryOf(base, key)
            slice.push(expiresAt === undefined ? entry : [...entry, expiresAt])
            left--
          }
        }
        return slice
      },
      async close() {
        left = 0
      },
    }
  }

  return {
    find: (key) => tree.get(toText(Buffer.from(key))),
    write,
    snapshot() {
      // Copies nothing now: nodes that change later are copied then.
      const base = tree.clone()
      return {
        find(key) {
          const stored = base.get(toText(key))
          return stored && { stored, ...expiryOf(base, key) }
        },
        scan: (range) => scanTree(base, range),
        async close() {},
      }
    },
    close: () => sweeper.close(),
  }
}
