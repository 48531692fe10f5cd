import { createReplica, batchPerTurn, type LogChannel } from '@influencer-stats/log/replica'
import { encodeWrites } from '../core/encode-writes.ts'
import type { LogResult } from '../messages.ts'
import { TtlState } from './ttl.ts'
import { createWriteLimiter, type WriteLimiterOptions } from './write-limiter.ts'
import { openKvLevel, type LevelShareOptions } from './level-store.ts'
import { createLevelSnapshot } from './level-read-snapshot.ts'
import { createLiveReader } from './live-reader.ts'
import { getSequence } from './kv-state-machine.ts'
import { getWriteBytes, type KvStore, type KvWrite } from './store.ts'

export interface ReplicatedStoreOptions extends WriteLimiterOptions, LevelShareOptions {
  readonly folder: string
  readonly cacheMegabytes: number
  /** State that main sets: the flag that a value may expire, and a floor of the log's clock (`ttl.ts`). */
  readonly ttlMemory: SharedArrayBuffer
  readonly channel: LogChannel & {
    /** The log's clock (ms since 1970). */
    now(): number
    /** @throws LOG_UNAVAILABLE, OUTCOME_UNKNOWN */
    append(writes: Uint8Array, count: number): Promise<LogResult>
  }
  /** Called after the writes of a turn are applied, with their number. */
  onCommit?(writes: number): void
}

/** Writes of one turn of the event loop, which become one entry of the log. */
interface WriteTurn {
  readonly writes: KvWrite[]
  bytes: number
  readonly done: Promise<LogResult>
  resolve(logged: LogResult | Promise<LogResult>): void
}

// A larger turn becomes several entries.
const MAX_TURN_BYTES = 4 * 1_024 * 1_024

/**
 * Store of a node of a cluster. Writes are appended to the log, and acknowledged once this node has applied them. Reads
 * use the database of this node, which has the entries that it has applied.
 */
export async function createReplicatedStore(options: ReplicatedStoreOptions): Promise<KvStore> {
  const { channel, onCommit = () => {} } = options
  const level = await openKvLevel(options.folder, options.cacheMegabytes, options)
  const { db } = level
  const ttlMemory = new TtlState(options.ttlMemory, channel.now)
  const limiter = createWriteLimiter(options)
  const inFlight = new Set<Promise<unknown>>()
  let current: WriteTurn | undefined

  function getTurn(bytes: number): WriteTurn {
    if (current && current.bytes + bytes <= MAX_TURN_BYTES) return current
    if (current) send(current)
    const { promise: done, resolve } = Promise.withResolvers<LogResult>()
    const turn: WriteTurn = { writes: [], bytes: 0, done, resolve }
    current = turn
    void batchPerTurn(inFlight.size > 0).then(() => {
      if (current === turn) send(turn)
    })
    return turn
  }

  function send(turn: WriteTurn): void {
    current = undefined
    const { writes, bytes, done } = turn
    inFlight.add(done)
    const leave = () => {
      inFlight.delete(done)
      limiter.release(bytes, writes.length)
    }
    done.then(() => (leave(), onCommit(writes.length)), leave)
    turn.resolve(channel.append(encodeWrites(writes), writes.length))
  }

  async function close(): Promise<void> {
    if (current) send(current)
    await Promise.allSettled(inFlight)
    await level.close()
  }
  let closed: Promise<void> | undefined

  function submit<T>(
    write: KvWrite,
    bytes: number,
    answer: (revision: string | undefined, sequence: number) => T,
  ): Promise<T> {
    const turn = getTurn(bytes)
    const index = turn.writes.push(write) - 1
    turn.bytes += bytes
    return turn.done.then(({ sequence, outcomes }) => answer(outcomes[index], sequence))
  }

  return {
    replica: createReplica(channel),
    queue: limiter,
    getFault: () => level.getFault(),
    ...createLiveReader(db, ttlMemory),
    write(write, answer) {
      const fault = level.getFault()
      if (fault) return Promise.reject(fault)
      const bytes = getWriteBytes(write)
      if (limiter.tryEnter(bytes)) return submit(write, bytes, answer)
      return limiter.enter(bytes, () => submit(write, bytes, answer))
    },
    snapshot: () => createLevelSnapshot(db, { ttl: ttlMemory, getSequence: (snapshot) => getSequence(db, snapshot) }),
    close: () => (closed ??= close()),
  }
}
