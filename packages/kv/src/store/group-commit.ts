import { holds } from '../core/condition.ts'
import { etagOf, revisionOf, toEtag, toStored } from '../core/stored.ts'
import { turn } from '../core/turn.ts'
import { errors } from '../errors.ts'
import type { Commit, CommitOptions, Level } from './commit.ts'
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

type Outcomes = readonly (string | undefined)[]

// What is larger waits for the next batch, so that one batch never holds the disk or the loop for long.
const MAX_GROUP_BYTES = 8 * 1_024 * 1_024
const MAX_GROUP_CHANGES = 10_000

// Changes of one write that are made ready before others have their turn: 3 ms.
const SLICE = 1_000

const PLAIN = { sync: false } as const
const DURABLE = { sync: true } as const

/**
 * What arrives within one turn of the event loop becomes one batch; the next gathers while that is written. A write that
 * follows one that was alone is written at once. One batch is under way at a time, which also puts this thread's writes
 * into one order: conditions are judged, and revisions given, when a group is written.
 */
export function createGroupCommit({ level, gate, revisions, stripes, onCommit }: CommitOptions): Commit {
  const groups: Group[] = []
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
      await commit(group)
      alone = group.writes.length === 1 && groups.length === 0
    }
    running = undefined
  }

  async function commit(group: Group): Promise<void> {
    const { writes } = group
    try {
      const held = stripes && (await stripes.of(writes))
      // Nothing to wait for is no turn of the microtask queue.
      const waiting = held && stripes!.acquire(held)
      if (waiting) await waiting
      let outcomes: Outcomes
      let certain: (() => Promise<void>) | undefined
      try {
        const taken = revisions.take(writes.length)
        outcomes = judge(writes, typeof taken === 'number' ? taken : await taken)
        certain = await write(writes, outcomes)
      } finally {
        if (held) stripes!.release(held)
      }
      if (certain) acknowledgeOnce(certain(), group, outcomes)
      else group.resolve(outcomes)
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

  /** Gives revisions, the condition of each write judged by what the writes before it, in the same group, will have left. */
  function judge(writes: readonly Write[], first: number): Outcomes {
    if (!writes.some(({ condition }) => condition)) return writes.map((_, i) => revisionOf(first + i))
    const changed = new Map<string, string | undefined>()
    function current(key: Buffer): string | undefined {
      const text = key.toString('latin1')
      if (changed.has(text)) return changed.get(text)
      const stored = level.db.getSync(key)
      return stored && etagOf(stored)
    }
    return writes.map(({ ops, condition }, i) => {
      if (condition && !holds(condition, current(ops[0]!.key))) return undefined
      const revision = revisionOf(first + i)
      for (const op of ops) changed.set(op.key.toString('latin1'), op.type === 'put' ? toEtag(revision) : undefined)
      return revision
    })
  }

  /** Resolves, once it is written, with what is to be awaited before it is acknowledged, if anything is. */
  async function write(writes: readonly Write[], outcomes: Outcomes): Promise<(() => Promise<void>) | undefined> {
    if (outcomes.every((revision) => revision === undefined)) return undefined
    // One durable write makes the whole group durable: see the README for what that costs the others.
    const options = writes.some(({ durable }, i) => durable && outcomes[i] !== undefined) ? DURABLE : PLAIN
    const [only] = writes
    const [op] = only!.ops
    let act: (db: Level) => Promise<void>
    if (writes.length === 1 && only!.ops.length === 1 && op?.type === 'put') {
      // A batch of one takes 3 us more.
      act = (db) => db.put(op.key, toStored(outcomes[0]!, op.value), options)
    } else {
      const batch = await batchOf(writes, outcomes)
      act = () => batch.write(options)
    }
    const certain = await level.writeAhead(act)
    onCommit(writes.length)
    return certain
  }

  /** Made by calls of one change each: an array of all takes twice as long, and the loop as a whole. */
  async function batchOf(writes: readonly Write[], outcomes: Outcomes) {
    const batch = level.db.batch()
    let changes = 0
    try {
      for (let i = 0; i < writes.length; i++) {
        const revision = outcomes[i]
        if (revision === undefined) continue
        for (const op of writes[i]!.ops) {
          if (op.type === 'put') batch.put(op.key, toStored(revision, op.value))
          else batch.del(op.key)
          if (++changes % SLICE === 0) await turn()
        }
      }
    } catch (cause) {
      // The database was opened anew meanwhile.
      throw errors.STORE_FAILED(undefined, { cause })
    }
    return batch
  }

  return {
    submit(write, bytes, answer) {
      const group = groupFor(write.ops.length, bytes)
      const index = group.writes.push(write) - 1
      group.changes += write.ops.length
      group.bytes += bytes
      running ??= run()
      return group.done.then((outcomes) => answer(outcomes[index]))
    },
    async idle() {
      while (running) await running
      await Promise.all(doubtful)
    },
  }
}
