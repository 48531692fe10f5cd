import { FrameError } from '@influencer-stats/log/errors'
import { createSnapshotCodec } from '@influencer-stats/log/level-snapshot'
import {
  openLevelStateMachine,
  type LevelStateMachine,
  type PositionRow,
  type SnapshotCodec,
} from '@influencer-stats/log/level-state-machine'
import type { LogEntry, LogPosition } from '@influencer-stats/log/log'
import { createHash } from 'node:crypto'
import { WriteEvaluation, evaluate, type WriteResult } from '../core/evaluate-writes.ts'
import { DUE_END, toDueKey, toDuePosition, type DueKey } from '../core/internal-keys.ts'
import {
  decodeWrites,
  encodeWrites,
  EXPIRE_KIND,
  WRITES_KIND,
  UnknownWritesError,
  type LoggedWrite,
} from '../core/encode-writes.ts'
import type { ChangeFeed } from '../watch/change-feed.ts'
import { toWatchEvents } from '../watch/write-recorder.ts'
import type { KvLevel, KvDatabase } from '../store/commit.ts'
import { readDueKeys } from '../store/level-store.ts'
import { TtlState, createTtlMemory } from '../store/ttl.ts'
import { createBatch } from '../store/level-batch.ts'
import { STATE_KEY } from '../revisions.ts'

/** Row `STATE_KEY` in the database of a node. */
interface KvPositionRow extends PositionRow {
  readonly position: LogPosition
  /** Number of the last write. */
  readonly revision: number
}

const SNAPSHOT_FORMAT = 'kv snapshot 2'
/** Older format, from before expiry and idempotency keys. Its entries are also valid in the present format. */
const FIRST_SNAPSHOT_FORMAT = 'kv snapshot 1'

export const createKvSnapshots = (db: KvDatabase): SnapshotCodec =>
  createSnapshotCodec(db, { name: SNAPSHOT_FORMAT, positionKey: STATE_KEY }, [FIRST_SNAPSHOT_FORMAT])

/** Evaluated entries. */
interface EvaluatedBatch {
  /** Writes of each entry. */
  readonly writes: readonly (readonly LoggedWrite[])[]
  readonly result: WriteResult
  /** Revision of the last write. */
  readonly revision: number
}

/** Maximum number of expired keys that one entry of the log removes. */
export const MAX_EXPIRED_KEYS = 1_000

/** State machine of the key-value service. It runs on the main thread. */
export interface KvStateMachine extends LevelStateMachine {
  /** Earliest expiry time of all keys (ms since 1970); `Infinity` if no key expires. */
  readonly nextDue: number
}

/**
 * Returns the number before a log's first revision. It depends on the identifier of the log, so that an ETag from
 * another log matches no value here.
 */
const getFirstRevision = (epoch: string) => Math.floor(createHash('sha256').update(epoch).digest().readUIntBE(0, 6) / 2)

/** @throws FrameError */
function decodeEntry({ body, seq }: LogEntry): LoggedWrite[] {
  try {
    return decodeWrites(body)
  } catch (error) {
    const code = error instanceof UnknownWritesError ? 'LOG_FORMAT_UNKNOWN' : 'LOG_DAMAGED'
    throw new FrameError(code, (error as Error).message, seq)
  }
}

/** Returns the last sequence whose changes a snapshot contains; 0 for an empty database. */
export function getSequence(db: KvDatabase, snapshot: ReturnType<KvDatabase['snapshot']>): number {
  const saved = db.getSync(STATE_KEY, { snapshot })
  return saved ? (JSON.parse(saved.toString()) as KvPositionRow).position.seq : 0
}

/**
 * Opens the state machine of a database.
 * @param feed receives all changes that are applied from now on
 * @param ttl state that the threads read: the flag that values may expire, and a lower bound of the log's clock
 * @param maxExpired maximum number of expired keys that one entry of the log removes
 */
export async function openKvStateMachine(
  level: KvLevel,
  feed: ChangeFeed,
  ttl = new TtlState(createTtlMemory()),
  maxExpired = MAX_EXPIRED_KEYS,
): Promise<KvStateMachine> {
  const { db } = level
  /**
   * No key is due before this position. Searches for due keys begin here: from an earlier position, LevelDB would step
   * over every key that was deleted there.
   */
  let dueFrom = toDuePosition(0)
  let nextDue = Infinity

  async function findFirstDue(): Promise<void> {
    const [first] = await readDueKeys(db, dueFrom, 1)
    dueFrom = first ? toDueKey(first.time, first.key) : DUE_END
    nextDue = first?.time ?? Infinity
    if (first) ttl.enable()
  }

  /** Updates the first due key after expiry changes are written. */
  async function updateFirstDue(expiries: NonNullable<WriteResult['expiries']>): Promise<void> {
    let isFirstRemoved = false
    for (const { key, before, after } of expiries.values()) {
      if (before === after) continue
      if (before === nextDue && toDueKey(before, key).equals(dueFrom)) isFirstRemoved = true
      if (after === undefined || after > nextDue) continue
      const position = toDueKey(after, key)
      if (position.compare(dueFrom) > 0) continue
      dueFrom = position
      nextDue = after
      isFirstRemoved = false
    }
    if (isFirstRemoved) await findFirstDue()
  }

  /** Adds the changes to the feed, as copies: the bytes of an entry share the memory of a larger message. */
  function addToFeed(entries: readonly LogEntry[], { writes, result: { effects, ineffective } }: EvaluatedBatch): void {
    let from = 0
    for (const [i, { seq, at, body }] of entries.entries()) {
      const entryEffects = effects.slice(from, (from += writes[i]!.length))
      // If all writes took effect and none is special, the encoded entry is published unchanged. This is the usual
      // case.
      const isUnchanged = entryEffects.every((revision, j) => revision !== undefined && !writes[i]![j]!.isSpecial)
      if (body.length > 0 && isUnchanged) feed.add({ seq, writes: Buffer.from(body) })
      else {
        const visible = toWatchEvents(writes[i]!, entryEffects, at, ineffective)
        if (visible.length > 0) feed.add({ seq, writes: encodeWrites(visible) })
      }
    }
  }

  const get = (key: Buffer) => db.getSync(key)

  async function evaluateAll(
    entries: readonly LogEntry[],
    { epoch }: LogPosition,
    row: KvPositionRow | undefined,
  ): Promise<EvaluatedBatch> {
    const before = row?.revision ?? getFirstRevision(epoch)
    const isTimed = nextDue !== Infinity
    if (!entries.some(({ kind }) => kind !== WRITES_KIND)) {
      const writes = entries.map(decodeEntry)
      const all = writes.flat()
      if (!isTimed && !all.some(({ isSpecial }) => isSpecial))
        return { writes, result: evaluate(all, before + 1, get, false), revision: before + all.length }
    }
    const evaluation = new WriteEvaluation(before + 1, get, isTimed)
    const writes: LoggedWrite[][] = []
    for (const entry of entries) {
      const { kind, at, seq } = entry
      if (kind !== WRITES_KIND && kind !== EXPIRE_KIND)
        throw new FrameError('LOG_FORMAT_UNKNOWN', `has an entry of the unknown kind ${kind}`, seq)
      const entryWrites = kind === WRITES_KIND ? decodeEntry(entry) : (await getDueKeys(at, evaluation)).map(toRemoval)
      for (const write of entryWrites) evaluation.evaluate(write, at)
      writes.push(entryWrites)
    }
    return { writes, result: evaluation, revision: before + evaluation.outcomes.length }
  }

  /**
   * Returns the keys that have expired at a time, ordered by their expiry times. The result is the same on every node,
   * even if nodes divide the log into different batches: it includes the changes of earlier entries of the batch.
   */
  async function getDueKeys(at: number, { expiries }: WriteEvaluation): Promise<DueKey[]> {
    const stored = await readDueKeys(db, dueFrom, maxExpired + expiries.size, toDuePosition(at + 1))
    const untouched = stored.filter(({ key }) => !expiries.has(key.toString('latin1')))
    const touched = Array.from(expiries.values(), ({ key, after }) => ({ key, time: after ?? Infinity }))
    return [...untouched, ...touched.filter(({ time }) => time <= at)].toSorted(compareDue).slice(0, maxExpired)
  }

  const stateMachine = await openLevelStateMachine<KvPositionRow, EvaluatedBatch>({
    level,
    positionKey: STATE_KEY,
    isReplica: true,
    snapshots: createKvSnapshots(db),

    async load(row) {
      dueFrom = toDuePosition(0)
      await findFirstDue()
      feed.start(row?.position.seq ?? 0)
    },

    evaluate: evaluateAll,

    async write({ writes, result, revision }, { position, boot }) {
      const row: KvPositionRow = { position, revision, boot }
      // The flag is set before the write, so that every read that sees the write also sees the flag. `raiseFloor` makes
      // a value that has expired by the log's clock absent at this node, too, even if this node's clock is slow.
      if (result.expiries?.size) ttl.enable()
      if (ttl.isTimed) ttl.raiseFloor(position.at)
      const batch = await createBatch(db, writes.flat(), result)
      try {
        batch.put(STATE_KEY, Buffer.from(JSON.stringify(row)))
        await level.write(() => batch.write())
      } finally {
        await batch.close()
      }
      return row
    },

    async publish(batch, entries, { position }) {
      const { writes, result } = batch
      if (result.expiries?.size) await updateFirstDue(result.expiries)
      addToFeed(entries, batch)
      feed.advanceTo(position.seq)
      let from = 0
      return writes.map(({ length }) => result.outcomes.slice(from, (from += length)))
    },

    canLag: () => !feed.hasWaiters,
  })
  return {
    ...stateMachine,
    get nextDue() {
      return nextDue
    },
  }
}

const toRemoval = ({ key, time }: DueKey): LoggedWrite => ({ ops: [{ type: 'del', key }], condition: { due: time } })

const compareDue = (a: DueKey, b: DueKey) => a.time - b.time || Buffer.compare(a.key, b.key)
