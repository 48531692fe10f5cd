import { createRequire } from 'node:module'
import type sortedBtree from 'sorted-btree'
import type { Entry } from '../core/frames.ts'
import { judge } from '../core/judge.ts'
import { DUE_END, expiryKey, readDue, timeOf, type Due } from '../core/own-keys.ts'
import { toStored, valueOf } from '../core/stored.ts'
import type { Recorder } from '../watch/recorder.ts'
import { Expiring, putOwn } from './expiries.ts'
import { createRevisions } from './revisions.ts'
import type { Answer, Found, Range, Scan, Store, Write } from './store.ts'
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
    const judged = judge([one], first, get, expiring.isTimed, () => expiring.judgementTime())
    const [revision] = judged.effects
    if (judged.expiries?.size) expiring.begin()
    for (const op of revision === undefined ? [] : one.ops) {
      if (op.type === 'put') target.put(op.key, toStored(revision!, op.value))
      else if (op.type === 'del') target.del(op.key)
    }
    putOwn(judged, target)
    expiring.wrote(judged.expiries)
    recorder.wrote(first, [one], judged)
    return answer(judged.outcomes[0])
  }

  async function due(position: Buffer, limit: number): Promise<Due[]> {
    const end = toText(DUE_END)
    const found: Due[] = []
    for (const key of tree.keys(toText(position))) {
      if (found.length === limit || key >= end) break
      found.push(readDue(Buffer.from(key, 'latin1')))
    }
    return found
  }

  /** Returns a value that has not expired at `now`. */
  function toLive(base: typeof tree, now: number, key: Buffer, stored: Buffer | undefined): Found | undefined {
    if (!stored || !expiring.isTimed) return stored && { stored }
    const time = base.get(toText(expiryKey(key)))
    const expiresAt = time && timeOf(time)
    return expiresAt !== undefined && expiring.isPast(expiresAt, now) ? undefined : { stored, expiresAt }
  }

  function findTimed(id: string): Found | undefined {
    const key = Buffer.from(id)
    return toLive(tree, expiring.now(), key, get(key))
  }

  function scanTree(base: typeof tree, now: number, { start, end, limit = Infinity, reverse, keysOnly }: Range): Scan {
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
            const found = toLive(base, now, key, value[1])
            if (!found) continue
            const entry = [key.toString(), keysOnly ? '' : valueOf(found.stored)] as const
            slice.push(found.expiresAt === undefined ? entry : [...entry, found.expiresAt])
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
    keepsOrder: true,
    find: (key) => findTimed(key)?.stored,
    isTimed: () => expiring.isTimed,
    now: () => expiring.now(),
    findTimed,
    write,
    snapshot() {
      // Copies nothing now: nodes that change later are copied then.
      const base = tree.clone()
      const now = expiring.now()
      return {
        find: (key) => toLive(base, now, key, base.get(toText(key))),
        scan: (range) => scanTree(base, now, range),
        async close() {},
      }
    },
    close: () => sweeper.close(),
  }
}
