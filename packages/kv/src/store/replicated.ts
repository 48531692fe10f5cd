import { createReplica, gathered, type LogLine } from '@influencer-stats/log/replica'
import { encodeWrites } from '../core/writes.ts'
import type { Logged } from '../messages.ts'
import { Expiring } from './expiries.ts'
import { createGate, type GateOptions } from './gate.ts'
import { openKvLevel, type Part } from './level.ts'
import { createLevelSnapshot } from './level-snapshot.ts'
import { createLiveReader } from './live-reader.ts'
import { sequenceIn } from './log-view.ts'
import { bytesOf, type Store, type Write } from './store.ts'

export interface ReplicatedStoreOptions extends GateOptions, Part {
  readonly folder: string
  readonly cacheMegabytes: number
  /** State that main sets: the flag that a value may expire, and a floor of the log's clock (`expiries.ts`). */
  readonly expiring: SharedArrayBuffer
  readonly line: LogLine & {
    /** The log's clock (ms since 1970). */
    now(): number
    /** @throws LOG_UNAVAILABLE, OUTCOME_UNKNOWN */
    append(writes: Uint8Array, count: number): Promise<Logged>
  }
  /** Told of every turn that was applied: of how many writes it was. */
  onCommit?(writes: number): void
}

/** Writes that came together: one entry of the log. */
interface Turn {
  readonly writes: Write[]
  bytes: number
  readonly done: Promise<Logged>
  resolve(logged: Logged | Promise<Logged>): void
}

// A turn that is larger is several entries.
const MAX_TURN_BYTES = 4 * 1_024 * 1_024

/**
 * The store of a node of many: writes go into the log, and are answered once this node has applied them; reads are of what
 * it has applied, in a base of its own.
 */
export async function createReplicatedStore(options: ReplicatedStoreOptions): Promise<Store> {
  const { line, onCommit = () => {} } = options
  const level = await openKvLevel(options.folder, options.cacheMegabytes, options)
  const { db } = level
  const expiring = new Expiring(options.expiring, line.now)
  const gate = createGate(options)
  const underWay = new Set<Promise<unknown>>()
  let gathering: Turn | undefined

  function turnFor(bytes: number): Turn {
    if (gathering && gathering.bytes + bytes <= MAX_TURN_BYTES) return gathering
    if (gathering) send(gathering)
    const { promise: done, resolve } = Promise.withResolvers<Logged>()
    const turn: Turn = { writes: [], bytes: 0, done, resolve }
    gathering = turn
    void gathered(underWay.size > 0).then(() => {
      if (gathering === turn) send(turn)
    })
    return turn
  }

  function send(turn: Turn): void {
    gathering = undefined
    const { writes, bytes, done } = turn
    underWay.add(done)
    const leave = () => {
      underWay.delete(done)
      gate.leave(bytes, writes.length)
    }
    done.then(() => (leave(), onCommit(writes.length)), leave)
    turn.resolve(line.append(encodeWrites(writes), writes.length))
  }

  async function close(): Promise<void> {
    if (gathering) send(gathering)
    await Promise.allSettled(underWay)
    await level.close()
  }
  let closed: Promise<void> | undefined

  function submit<T>(
    write: Write,
    bytes: number,
    answer: (revision: string | undefined, sequence: number) => T,
  ): Promise<T> {
    const turn = turnFor(bytes)
    const index = turn.writes.push(write) - 1
    turn.bytes += bytes
    return turn.done.then(({ sequence, outcomes }) => answer(outcomes[index], sequence))
  }

  return {
    replica: createReplica(line),
    queue: gate,
    fault: () => level.fault(),
    ...createLiveReader(db, expiring),
    write(write, answer) {
      const fault = level.fault()
      if (fault) return Promise.reject(fault)
      const bytes = bytesOf(write)
      if (gate.tryEnter(bytes)) return submit(write, bytes, answer)
      return gate.wait(bytes, () => submit(write, bytes, answer))
    },
    snapshot: () => createLevelSnapshot(db, { expiring, sequenceIn: (snapshot) => sequenceIn(db, snapshot) }),
    close: () => (closed ??= close()),
  }
}
