import { holds } from '../core/condition.ts'
import type { Op } from '../core/lines.ts'
import type { Commit, CommitOptions, Level } from './commit.ts'
import type { Write } from './store.ts'

interface Pending {
  readonly write: Write
  readonly bytes: number
  readonly resolve: (held: boolean) => void
  readonly reject: (error: unknown) => void
}

/** What a group of writes comes to. */
interface Change {
  /** Which conditions held; nothing where there were none. */
  readonly outcomes: readonly boolean[] | undefined
  readonly ops: readonly Op[]
  readonly sync: boolean
}

// What is larger waits for the next batch, so that one batch never holds the disk for long.
const MAX_GROUP_BYTES = 8 * 1_024 * 1_024

/**
 * What arrives within one turn of the event loop becomes one batch; the next gathers while that is written. A write that
 * follows one that was alone is written at once. One batch is under way at a time, which also puts this thread's writes
 * into one order: conditions are judged when a group forms.
 */
export function createGroupCommit({ level, gate, stripes, onCommit }: CommitOptions): Commit {
  let gathering: Pending[] = []
  let running: Promise<void> | undefined
  /** Groups that are written and may not be acknowledged yet. */
  const doubtful = new Set<Promise<void>>()
  /** Whether nothing else came while the last write was written: then the next is taken to be alone, too. */
  let alone = false

  function takeGroup(): Pending[] {
    let bytes = 0
    let count = 0
    while (count < gathering.length && (count === 0 || bytes + gathering[count]!.bytes <= MAX_GROUP_BYTES)) {
      bytes += gathering[count++]!.bytes
    }
    const group = count === gathering.length ? gathering : gathering.slice(0, count)
    gathering = count === gathering.length ? [] : gathering.slice(count)
    return group
  }

  async function run(): Promise<void> {
    // After what the loop reads in this turn; one connection alone did 10 % more a second without it (12 pairs).
    if (!alone) await new Promise((resolve) => setImmediate(resolve))
    while (gathering.length > 0) {
      const group = takeGroup()
      await commit(group)
      alone = group.length === 1 && gathering.length === 0
    }
    running = undefined
  }

  async function commit(group: readonly Pending[]): Promise<void> {
    const writes = group.map(({ write }) => write)
    const held = stripes?.of(writes)
    try {
      // Nothing to wait for is no turn of the microtask queue.
      const waiting = held && stripes!.acquire(held)
      if (waiting) await waiting
      let outcomes: readonly boolean[] | undefined
      let certain: (() => Promise<void>) | undefined
      try {
        const change = changeOf(writes)
        outcomes = change.outcomes
        if (change.ops.length > 0) {
          certain = await level.writeAhead((db) => write(db, change))
          onCommit(writes.length)
        }
      } finally {
        if (held) stripes!.release(held)
      }
      if (certain) acknowledgeOnce(certain(), group, outcomes)
      else acknowledge(group, outcomes)
    } catch (error) {
      refuse(group, error)
    }
  }

  /** The next group does not wait for that. */
  function acknowledgeOnce(certain: Promise<void>, group: readonly Pending[], outcomes?: readonly boolean[]): void {
    const done = certain.then(
      () => acknowledge(group, outcomes),
      (error: unknown) => refuse(group, error),
    )
    doubtful.add(done)
    void done.then(() => doubtful.delete(done))
  }

  function acknowledge(group: readonly Pending[], outcomes?: readonly boolean[]): void {
    for (let i = 0; i < group.length; i++) {
      group[i]!.resolve(outcomes ? outcomes[i]! : true)
      gate.leave(group[i]!.bytes)
    }
  }

  function refuse(group: readonly Pending[], error: unknown): void {
    for (const { reject, bytes } of group) {
      reject(error)
      gate.leave(bytes)
    }
  }

  function changeOf(writes: readonly Write[]): Change {
    const outcomes = writes.some(({ condition }) => condition) ? judge(writes) : undefined
    const ops: Op[] = []
    let sync = false
    for (let i = 0; i < writes.length; i++) {
      if (outcomes && !outcomes[i]) continue
      const one = writes[i]!
      if (one.ops.length === 1) ops.push(one.ops[0]!)
      else for (const op of one.ops) ops.push(op)
      // One durable write makes the whole group durable: see the README for what that costs the others.
      sync ||= one.durable
    }
    return { outcomes, ops, sync }
  }

  function write(db: Level, { ops, sync }: Change): Promise<void> {
    const [first] = ops
    // A batch of one takes 3 us more.
    if (ops.length === 1 && first!.type === 'put') return db.put(first!.key, first!.value, { sync })
    return db.batch(ops as Op[], { sync })
  }

  /** Judges each condition by what the writes before it, in the same group, will have left. */
  function judge(writes: readonly Write[]): boolean[] {
    const changed = new Map<string, Buffer | undefined>()
    const current = (key: Buffer) => {
      const text = key.toString('latin1')
      return changed.has(text) ? changed.get(text) : level.db.getSync(key)
    }
    return writes.map(({ ops, condition }) => {
      if (condition && !holds(condition, current(ops[0]!.key))) return false
      for (const op of ops) changed.set(op.key.toString('latin1'), op.type === 'put' ? op.value : undefined)
      return true
    })
  }

  return {
    submit(write, bytes) {
      return new Promise((resolve, reject) => {
        gathering.push({ write, bytes, resolve, reject })
        running ??= run()
      })
    },
    async idle() {
      while (running) await running
      await Promise.all(doubtful)
    },
  }
}
