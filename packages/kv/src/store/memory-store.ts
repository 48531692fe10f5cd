import { createRequire } from 'node:module'
import type sortedBtree from 'sorted-btree'
import type { StoredEntry } from '../lines/entry-chunks.ts'
import { evaluate } from '../core/evaluate-writes.ts'
import { DUE_END, toExpiryKey, decodeDueKey, decodeTime, type DueKey } from '../core/internal-keys.ts'
import { toStored, getValue } from '../core/stored-value.ts'
import type { WriteRecorder } from '../watch/write-recorder.ts'
import { TtlState, putInternalRows } from './ttl.ts'
import { createRevisions } from '../revisions.ts'
import type { KvReply, FoundValue, KvRange, KvScan, KvStore, KvWrite } from './store.ts'
import { createSweeper } from './sweeper.ts'

// Node and vitest import the default export of this CommonJS module in different ways; `require` works in both.
const require = createRequire(import.meta.url)
const { default: BTree } = require('sorted-btree') as typeof sortedBtree
const SLICE_ENTRIES = 1_000

// Strings with one character per byte compare like their bytes.
const compareKeys = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const toText = (key: Buffer) => key.toString('latin1')
/** Position after all keys of users, and before all internal keys of the service. */
const INTERNAL_KEYS_START = '\xff'

export interface MemoryStoreOptions {
  readonly revisions: { readonly memory: SharedArrayBuffer }
  readonly recorder: WriteRecorder
  readonly ttl: SharedArrayBuffer
}

/**
 * Creates a store in memory, a sorted tree. It shows the cost of HTTP alone. It belongs to one thread, and its data is
 * lost when the process ends.
 */
export function createMemoryStore({ revisions: { memory }, recorder, ...options }: MemoryStoreOptions): KvStore {
  const tree = new BTree<string, Buffer>(undefined, compareKeys)
  const revisions = createRevisions(memory, async () => {})
  const ttl = new TtlState(options.ttl)
  const get = (key: Buffer) => tree.get(toText(key))
  const target = {
    put: (key: Buffer, value: Buffer) => tree.set(toText(key), value),
    del: (key: Buffer) => tree.delete(toText(key)),
  }
  const sweeper = createSweeper({ ttl, readDueKeys, write })

  async function write<T>(single: KvWrite, toReply: KvReply<T>): Promise<T> {
    // `take` never returns a promise here, because `createEphemeralRevisions` reserves all numbers.
    const first = revisions.take(1) as number
    const result = evaluate([single], first, get, ttl.isTimed, () => ttl.getEvaluationTime())
    const [revision] = result.effects
    if (result.expiries?.size) ttl.enable()
    for (const op of revision === undefined ? [] : single.ops) {
      if (op.type === 'put') target.put(op.key, toStored(revision!, op.value))
      else if (op.type === 'del') target.del(op.key)
    }
    putInternalRows(result, target)
    ttl.onWritten(result.expiries)
    recorder.recordWrites(first, [single], result)
    return toReply(result.outcomes[0])
  }

  async function readDueKeys(position: Buffer, limit: number): Promise<DueKey[]> {
    const end = toText(DUE_END)
    const found: DueKey[] = []
    for (const key of tree.keys(toText(position))) {
      if (found.length === limit || key >= end) break
      found.push(decodeDueKey(Buffer.from(key, 'latin1')))
    }
    return found
  }

  /** Returns a stored value with its expiry time; `undefined` if it has expired at `now`. */
  function toLive(
    snapshotTree: typeof tree,
    now: number,
    key: Buffer,
    stored: Buffer | undefined,
  ): FoundValue | undefined {
    if (!stored || !ttl.isTimed) return stored && { stored }
    const time = snapshotTree.get(toText(toExpiryKey(key)))
    const expiresAt = time && decodeTime(time)
    return expiresAt !== undefined && ttl.isPast(expiresAt, now) ? undefined : { stored, expiresAt }
  }

  function findTimed(id: string): FoundValue | undefined {
    const key = Buffer.from(id)
    return toLive(tree, ttl.now(), key, get(key))
  }

  function scanTree(
    snapshotTree: typeof tree,
    now: number,
    { start, end, limit = Infinity, reverse, keysOnly }: KvRange,
  ): KvScan {
    const [first, stop] = [toText(start), end ? toText(end) : INTERNAL_KEYS_START]
    const entries = reverse ? snapshotTree.entriesReversed(stop, undefined, true) : snapshotTree.entries(first)
    let remaining = limit
    return {
      async next() {
        const slice: StoredEntry[] = []
        while (slice.length < SLICE_ENTRIES && remaining > 0) {
          const { value, done } = entries.next()
          if (done || (reverse ? value[0] < first : value[0] >= stop)) remaining = 0
          else {
            const key = Buffer.from(value[0], 'latin1')
            const found = toLive(snapshotTree, now, key, value[1])
            if (!found) continue
            const entry = [key.toString(), keysOnly ? '' : getValue(found.stored)] as const
            slice.push(found.expiresAt === undefined ? entry : [...entry, found.expiresAt])
            remaining--
          }
        }
        return slice
      },
      async close() {
        remaining = 0
      },
    }
  }

  return {
    isOrdered: true,
    find: (key) => findTimed(key)?.stored,
    isTimed: () => ttl.isTimed,
    now: () => ttl.now(),
    findTimed,
    write,
    snapshot() {
      // `clone` copies no entries. Before a later write changes a node of the tree, the tree copies that node.
      const snapshotTree = tree.clone()
      const now = ttl.now()
      return {
        find: (key) => toLive(snapshotTree, now, key, snapshotTree.get(toText(key))),
        scan: (range) => scanTree(snapshotTree, now, range),
        async close() {},
      }
    },
    close: () => sweeper.close(),
  }
}
