import { hasEffect, isReplay, evaluate, type WriteResult, type Outcomes } from '../core/evaluate-writes.ts'
import { toStored } from '../core/stored-value.ts'
import { waitTurn } from '../core/yield-turn.ts'
import type { Commit, CommitOptions } from './commit.ts'
import { createBatch } from './level-batch.ts'
import type { KvWrite } from './store.ts'

/** Writes that become one batch, and share one promise. */
interface WriteGroup {
  readonly writes: KvWrite[]
  changes: number
  bytes: number
  /** Resolves with the revisions of all writes; `undefined` for a write whose condition did not hold. */
  readonly done: Promise<Outcomes>
  resolve(outcomes: Outcomes): void
  reject(error: unknown): void
}

// Further writes wait for the next batch, so that one batch never holds the disk or the event loop for long.
const MAX_GROUP_BYTES = 8 * 1_024 * 1_024
const MAX_GROUP_CHANGES = 10_000

const PLAIN_OPTIONS = { sync: false } as const
const DURABLE_OPTIONS = { sync: true } as const

/** True if a reply waits until an earlier write is on the disk, because that write may not have been durable. */
const hasDurableReplay = (writes: readonly KvWrite[], result: WriteResult) =>
  result.records !== undefined && writes.some((write, i) => write.durable && isReplay(write, i, result))

const combine = (first: (() => Promise<void>) | undefined, second: () => Promise<void>) => async () =>
  void (await Promise.all([first?.(), second()]))

/**
 * Combines the writes of one turn of the event loop into one batch. The next batch collects writes while the first is
 * written. After a batch with a single write, the next write is written at once. Only one batch is written at a time.
 * This also gives the writes of this thread one order: conditions are evaluated, and revisions assigned, when a group
 * is written.
 */
export function createGroupCommit({
  level,
  limiter,
  revisions,
  keyLocks,
  recorder,
  ttl,
  onCommit,
}: CommitOptions): Commit {
  const groups: WriteGroup[] = []
  /** Group that is being written. */
  let current: WriteGroup | undefined
  let running: Promise<void> | undefined
  /** Groups that are written and may not be acknowledged yet. */
  const unacknowledged = new Set<Promise<unknown>>()
  /** True if no other write arrived during the last one. The next write is then expected to be alone, too. */
  let isAlone = false

  /** The group that a write joins. */
  function getGroup(changes: number, bytes: number): WriteGroup {
    const last = groups.at(-1)
    if (last && last.bytes + bytes <= MAX_GROUP_BYTES && last.changes + changes <= MAX_GROUP_CHANGES) return last
    const { promise: done, resolve, reject } = Promise.withResolvers<Outcomes>()
    const group: WriteGroup = { writes: [], changes: 0, bytes: 0, done, resolve, reject }
    groups.push(group)
    const leave = () => limiter.release(group.bytes, group.writes.length)
    done.then(leave, leave)
    return group
  }

  async function run(): Promise<void> {
    // Waits for the requests that the loop reads in this turn. A single connection did 10 % more per second without the
    // wait (12 pairs).
    if (!isAlone) await waitTurn()
    for (let group = groups.shift(); group; group = groups.shift()) {
      current = group
      await commit(group)
      isAlone = group.writes.length === 1 && groups.length === 0
    }
    running = current = undefined
  }

  async function commit(group: WriteGroup): Promise<void> {
    const { writes } = group
    try {
      const locks = keyLocks && (await keyLocks.getStripes(writes))
      // Free locks need no turn of the microtask queue.
      const waiting = locks && keyLocks!.acquire(locks)
      if (waiting) await waiting
      let result: WriteResult
      let sync: (() => Promise<void>) | undefined
      try {
        const taken = revisions.take(writes.length)
        const first = typeof taken === 'number' ? taken : await taken
        result = evaluate(writes, first, get, ttl.isTimed, now)
        if (hasEffect(result)) {
          sync = await write(writes, result)
          onCommit(writes.length)
        }
        recorder.recordWrites(first, writes, result)
        if (hasDurableReplay(writes, result)) sync = combine(sync, () => level.sync())
      } catch (error) {
        recorder.recordLost()
        throw error
      } finally {
        if (locks) keyLocks!.release(locks)
      }
      if (sync) acknowledgeAfter(sync(), group, result.outcomes)
      else group.resolve(result.outcomes)
    } catch (error) {
      group.reject(error)
    }
  }

  /** Acknowledges a group after its sync. The next group does not wait for the sync. */
  function acknowledgeAfter(sync: Promise<void>, group: WriteGroup, outcomes: Outcomes): void {
    const done = sync.then(() => group.resolve(outcomes), group.reject)
    const forget = () => void unacknowledged.delete(done)
    unacknowledged.add(done)
    void done.then(forget)
  }

  const get = (key: Buffer) => level.db.getSync(key)
  const now = () => ttl.getEvaluationTime()

  /** Resolves once the group is written, with a sync that must complete before the acknowledgement, if any. */
  function write(writes: readonly KvWrite[], result: WriteResult): Promise<(() => Promise<void>) | undefined> {
    const { effects, expiries } = result
    // One durable write makes the whole group durable. The README has the cost for the other writes.
    // A refused write with an idempotency key writes a record.
    const isDurable = ({ durable, idempotencyKey }: KvWrite, i: number) =>
      durable && (effects[i] !== undefined || idempotencyKey !== undefined)
    const options = writes.some(isDurable) ? DURABLE_OPTIONS : PLAIN_OPTIONS
    const { ops } = writes[0]!
    const [op] = ops
    // A batch of one takes 3 us more.
    if (writes.length === 1 && ops.length === 1 && op?.type === 'put' && !expiries?.size) {
      const stored = toStored(effects[0]!, op.value)
      return level.writeAhead((db) => db.put(op.key, stored, options))
    }
    if (expiries?.size) ttl.enable()
    return writeBatch(writes, result, options)
  }

  async function writeBatch(
    writes: readonly KvWrite[],
    result: WriteResult,
    options: typeof PLAIN_OPTIONS | typeof DURABLE_OPTIONS,
  ) {
    const batch = await createBatch(level.db, writes, result)
    try {
      return await level.writeAhead(() => batch.write(options))
    } finally {
      ttl.onWritten(result.expiries)
      await batch.close()
    }
  }

  return {
    // A write joins the last group. Groups are written one after the other, and conditions are evaluated in that order.
    isOrdered: true,
    submit(write, bytes, toReply) {
      const group = getGroup(write.ops.length, bytes)
      const index = group.writes.push(write) - 1
      group.changes += write.ops.length
      group.bytes += bytes
      running ??= run()
      return group.done.then((outcomes) => toReply(outcomes[index]))
    },
    async waitUntilSettled() {
      await Promise.allSettled([current, ...groups].map((group) => group?.done))
    },
    async waitUntilIdle() {
      while (running) await running
      await Promise.all(unacknowledged)
    },
  }
}
