import { holds } from '../core/condition.ts'
import { etagOf, revisionOf, toEtag, toStored } from '../core/stored.ts'
import { turn } from '../core/turn.ts'
import type { Commit, CommitOptions } from './commit.ts'
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
export function createGroupCommit({ db, gate, health, revisions, stripes, onCommit }: CommitOptions): Commit {
  const groups: Group[] = []
  let running: Promise<void> | undefined
  /** Whether nothing else came while the last write was written: then the next is taken to be alone, too. */
  let alone = false

  /** The group that a write joins. */
  function groupFor(changes: number, bytes: number): Group {
    const last = groups.at(-1)
    if (last && last.bytes + bytes <= MAX_GROUP_BYTES && last.changes + changes <= MAX_GROUP_CHANGES) return last
    const { promise: done, resolve, reject } = Promise.withResolvers<Outcomes>()
    const group: Group = { writes: [], changes: 0, bytes: 0, done, resolve, reject }
    groups.push(group)
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
      try {
        const taken = revisions.take(writes.length)
        outcomes = judge(writes, typeof taken === 'number' ? taken : await taken)
        await write(writes, outcomes)
      } finally {
        if (held) stripes!.release(held)
      }
      group.resolve(outcomes)
    } catch (error) {
      group.reject(error)
    } finally {
      gate.leave(group.bytes, writes.length)
    }
  }

  /** Gives revisions, the condition of each write judged by what the writes before it, in the same group, will have left. */
  function judge(writes: readonly Write[], first: number): Outcomes {
    if (!writes.some(({ condition }) => condition)) return writes.map((_, i) => revisionOf(first + i))
    const changed = new Map<string, string | undefined>()
    function current(key: Buffer): string | undefined {
      const text = key.toString('latin1')
      if (changed.has(text)) return changed.get(text)
      const stored = db.getSync(key)
      return stored && etagOf(stored)
    }
    return writes.map(({ ops, condition }, i) => {
      if (condition && !holds(condition, current(ops[0]!.key))) return undefined
      const revision = revisionOf(first + i)
      for (const op of ops) changed.set(op.key.toString('latin1'), op.type === 'put' ? toEtag(revision) : undefined)
      return revision
    })
  }

  async function write(writes: readonly Write[], outcomes: Outcomes): Promise<void> {
    // One durable write makes the whole group durable: see the README for what that costs the others.
    const options = writes.some(({ durable }, i) => durable && outcomes[i] !== undefined) ? DURABLE : PLAIN
    const [only] = writes
    const [op] = only!.ops
    const [revision] = outcomes
    if (writes.length === 1 && only!.ops.length === 1 && op?.type === 'put') {
      if (revision === undefined) return
      // A batch of one takes 3 us more.
      await written(() => db.put(op.key, toStored(revision, op.value), options))
    } else {
      const batch = db.batch()
      try {
        let changes = 0
        for (let i = 0; i < writes.length; i++) {
          const revision = outcomes[i]
          if (revision === undefined) continue
          for (const op of writes[i]!.ops) {
            if (op.type === 'put') batch.put(op.key, toStored(revision, op.value))
            else batch.del(op.key)
            if (++changes % SLICE === 0) await turn()
          }
        }
        if (changes === 0) return
        await written(() => batch.write(options))
      } finally {
        await batch.close()
      }
    }
    onCommit(writes.length)
  }

  async function written(act: () => Promise<void>): Promise<void> {
    const fault = health.fault()
    if (fault) throw fault
    try {
      await act()
    } catch (error) {
      throw health.fail(error)
    }
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
    },
  }
}
