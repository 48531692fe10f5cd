import { hasEffect, isReplay, judge, type Judgement, type Outcomes } from '../core/judge.ts'
import { toStored } from '../core/stored.ts'
import { turn } from '../core/turn.ts'
import type { Commit, CommitOptions } from './commit.ts'
import { createBatch } from './level-batch.ts'
import type { Write } from './store.ts'

/** Writes that become one batch, and share one promise. */
interface Group {
  readonly writes: Write[]
  changes: number
  bytes: number
  /** Of the revisions of all writes; nothing in the place of one whose condition did not hold. */
  readonly done: Promise<Outcomes>
  resolve(outcomes: Outcomes): void
  reject(error: unknown): void
}

// What is larger waits for the next batch, so that one batch never holds the disk or the loop for long.
const MAX_GROUP_BYTES = 8 * 1_024 * 1_024
const MAX_GROUP_CHANGES = 10_000

const PLAIN = { sync: false } as const
const DURABLE = { sync: true } as const

/** True if a reply waits until an earlier write is on the disk, because that write may not have been durable. */
const repeatsDurably = (writes: readonly Write[], judged: Judgement) =>
  judged.records !== undefined && writes.some((write, i) => write.durable && isReplay(write, i, judged))

const both = (first: (() => Promise<void>) | undefined, second: () => Promise<void>) => async () =>
  void (await Promise.all([first?.(), second()]))

/**
 * What arrives within one turn of the event loop becomes one batch; the next gathers while that is written. A write that
 * follows one that was alone is written at once. One batch is under way at a time, which also puts this thread's writes
 * into one order: conditions are judged, and revisions given, when a group is written.
 */
export function createGroupCommit({
  level,
  gate,
  revisions,
  stripes,
  recorder,
  expiring,
  onCommit,
}: CommitOptions): Commit {
  const groups: Group[] = []
  /** What is being written. */
  let current: Group | undefined
  let running: Promise<void> | undefined
  /** Groups that are written and may not be acknowledged yet. */
  const doubtful = new Set<Promise<unknown>>()
  /** Whether nothing else came while the last write was written: then the next is taken to be alone, too. */
  let alone = false

  /** The group that a write joins. */
  function groupFor(changes: number, bytes: number): Group {
    const last = groups.at(-1)
    if (last && last.bytes + bytes <= MAX_GROUP_BYTES && last.changes + changes <= MAX_GROUP_CHANGES) return last
    const { promise: done, resolve, reject } = Promise.withResolvers<Outcomes>()
    const group: Group = { writes: [], changes: 0, bytes: 0, done, resolve, reject }
    groups.push(group)
    const leave = () => gate.leave(group.bytes, group.writes.length)
    done.then(leave, leave)
    return group
  }

  async function run(): Promise<void> {
    // After what the loop reads in this turn; one connection alone did 10 % more a second without it (12 pairs).
    if (!alone) await turn()
    for (let group = groups.shift(); group; group = groups.shift()) {
      current = group
      await commit(group)
      alone = group.writes.length === 1 && groups.length === 0
    }
    running = current = undefined
  }

  async function commit(group: Group): Promise<void> {
    const { writes } = group
    try {
      const held = stripes && (await stripes.of(writes))
      // Nothing to wait for is no turn of the microtask queue.
      const waiting = held && stripes!.acquire(held)
      if (waiting) await waiting
      let judged: Judgement
      let certain: (() => Promise<void>) | undefined
      try {
        const taken = revisions.take(writes.length)
        const first = typeof taken === 'number' ? taken : await taken
        judged = judge(writes, first, get, expiring.isTimed, now)
        if (hasEffect(judged)) {
          certain = await write(writes, judged)
          onCommit(writes.length)
        }
        recorder.wrote(first, writes, judged)
        if (repeatsDurably(writes, judged)) certain = both(certain, () => level.sync())
      } catch (error) {
        recorder.lost()
        throw error
      } finally {
        if (held) stripes!.release(held)
      }
      if (certain) acknowledgeOnce(certain(), group, judged.outcomes)
      else group.resolve(judged.outcomes)
    } catch (error) {
      group.reject(error)
    }
  }

  /** The next group does not wait for that. */
  function acknowledgeOnce(certain: Promise<void>, group: Group, outcomes: Outcomes): void {
    const done = certain.then(() => group.resolve(outcomes), group.reject)
    const forget = () => void doubtful.delete(done)
    doubtful.add(done)
    void done.then(forget)
  }

  const get = (key: Buffer) => level.db.getSync(key)
  const now = () => expiring.judgementTime()

  /** Resolves, once it is written, with what is to be awaited before it is acknowledged, if anything is. */
  function write(writes: readonly Write[], judged: Judgement): Promise<(() => Promise<void>) | undefined> {
    const { effects, expiries } = judged
    // One durable write makes the whole group durable: see the README for what that costs the others.
    // A refused write with an idempotency key writes a record.
    const isDurable = ({ durable, idempotencyKey }: Write, i: number) =>
      durable && (effects[i] !== undefined || idempotencyKey !== undefined)
    const options = writes.some(isDurable) ? DURABLE : PLAIN
    const { ops } = writes[0]!
    const [op] = ops
    // A batch of one takes 3 us more.
    if (writes.length === 1 && ops.length === 1 && op?.type === 'put' && !expiries?.size) {
      const stored = toStored(effects[0]!, op.value)
      return level.writeAhead((db) => db.put(op.key, stored, options))
    }
    if (expiries?.size) expiring.begin()
    return writeBatch(writes, judged, options)
  }

  async function writeBatch(writes: readonly Write[], judged: Judgement, options: typeof PLAIN | typeof DURABLE) {
    const batch = await createBatch(level.db, writes, judged)
    try {
      return await level.writeAhead(() => batch.write(options))
    } finally {
      expiring.wrote(judged.expiries)
      await batch.close()
    }
  }

  return {
    // A write joins the last group. Groups are written one after the other, and conditions are evaluated in that order.
    keepsOrder: true,
    submit(write, bytes, answer) {
      const group = groupFor(write.ops.length, bytes)
      const index = group.writes.push(write) - 1
      group.changes += write.ops.length
      group.bytes += bytes
      running ??= run()
      return group.done.then((outcomes) => answer(outcomes[index]))
    },
    async settled() {
      await Promise.allSettled([current, ...groups].map((group) => group?.done))
    },
    async idle() {
      while (running) await running
      await Promise.all(doubtful)
    },
  }
}
