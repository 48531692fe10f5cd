import { createReplica, batchPerTurn, type LogChannel } from '@influencer-stats/log/replica'
import { encodeWrites } from '../core/encode-writes.ts'
import type { LogResult } from '../messages.ts'
import { TtlState } from '../store/ttl.ts'
import { createWriteLimiter, type WriteLimiterOptions } from '../store/write-limiter.ts'
import { openKvLevel, type LevelShareOptions } from '../store/level-store.ts'
import { createLevelSnapshot } from '../store/level-read-snapshot.ts'
import { createLiveReader } from '../store/live-reader.ts'
import { getSequence } from './kv-state-machine.ts'
import { getWriteBytes, type KvStore, type KvWrite } from '../store/store.ts'

export interface ReplicatedStoreOptions extends WriteLimiterOptions, LevelShareOptions {
  readonly folder: string
  readonly cacheMegabytes: number
  /**
   * State that the main thread sets: the flag that values may expire, and a lower bound of the log's clock (`ttl.ts`).
   */
  readonly ttlMemory: SharedArrayBuffer
  readonly channel: LogChannel & {
    /** Returns the log's time (ms since 1970). */
    now(): number
    /** Appends `count` encoded writes to the log as one entry. @throws LOG_UNAVAILABLE, OUTCOME_UNKNOWN */
    append(writes: Uint8Array, count: number): Promise<LogResult>
  }
  /** Called after this node has applied the writes of one entry of the log, with their number. */
  onCommit?(writes: number): void
}

/**
 * Writes that become one entry of the log: those of one turn of the event loop, or of 1 ms while an earlier entry is in
 * progress (`batchPerTurn`).
 */
interface WriteTurn {
  readonly writes: KvWrite[]
  bytes: number
  readonly done: Promise<LogResult>
  resolve(logged: LogResult | Promise<LogResult>): void
}

/**
 * Maximum size of the writes in one entry of the log (bytes, as `getWriteBytes` counts them). If the writes of a turn
 * exceed it, they become several entries.
 */
const MAX_TURN_BYTES = 4 * 1_024 * 1_024

/**
 * Creates the store of a cluster node. It appends writes to the log, and acknowledges them once this node has applied
 * them. It reads from the database of this node, which contains all entries that the node has applied.
 */
export async function createReplicatedStore(options: ReplicatedStoreOptions): Promise<KvStore> {
  const { channel, onCommit = () => {} } = options
  const level = await openKvLevel(options.folder, options.cacheMegabytes, options)
  const { db } = level
  const ttl = new TtlState(options.ttlMemory, channel.now)
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
    const releaseCapacity = () => {
      inFlight.delete(done)
      limiter.release(bytes, writes.length)
    }
    done.then(() => (releaseCapacity(), onCommit(writes.length)), releaseCapacity)
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
    toReply: (outcome: string | undefined, sequence: number) => T,
  ): Promise<T> {
    const turn = getTurn(bytes)
    const index = turn.writes.push(write) - 1
    turn.bytes += bytes
    return turn.done.then(({ sequence, outcomes }) => toReply(outcomes[index], sequence))
  }

  return {
    replica: createReplica(channel),
    queue: limiter,
    getFault: () => level.getFault(),
    ...createLiveReader(db, ttl),
    write(write, toReply) {
      const fault = level.getFault()
      if (fault) return Promise.reject(fault)
      const bytes = getWriteBytes(write)
      if (limiter.tryEnter(bytes)) return submit(write, bytes, toReply)
      return limiter.enter(bytes, () => submit(write, bytes, toReply))
    },
    snapshot: () => createLevelSnapshot(db, { ttl, getSequence: (snapshot) => getSequence(db, snapshot) }),
    close: () => (closed ??= close()),
  }
}
