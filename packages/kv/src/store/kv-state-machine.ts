import { FrameError } from '@influencer-stats/log/errors'
import { restoreSnapshot, createSnapshotChunks } from '@influencer-stats/log/level-snapshot'
import { CLEAN_BOOT, clearLevel, isTorn, markClean } from '@influencer-stats/log/level-state-machine'
import type { LogEntry, LogPosition, StateMachine } from '@influencer-stats/log/log'
import { readBootId } from '@influencer-stats/runtime/boot-id'
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
import type { KvLevel, KvDatabase } from './commit.ts'
import { readDueKeys } from './level-store.ts'
import { TtlState, createTtlMemory } from './ttl.ts'
import { createBatch } from './level-batch.ts'
import { POSITION_KEY } from './revisions.ts'

/**
 * Value of the service's own key in the database of a node: its position in the log, and the state to continue from.
 */
interface KvPosition {
  readonly position: LogPosition
  /** Number of the last write. */
  readonly revision: number
  /** Boot id of the machine that wrote this, or `clean`: all of it is on the disk. */
  readonly boot: string | undefined
}

const SNAPSHOT_FORMAT = 'kv snapshot 2'
/** Format whose only key of the service is the position. */
const FIRST_SNAPSHOT_FORMAT = 'kv snapshot 1'

/** Evaluation of a batch until it is written. A retry after a fault writes it without a second evaluation. */
interface EvaluatedBatch {
  readonly position: LogPosition
  /** Writes of each entry. */
  readonly writes: readonly (readonly LoggedWrite[])[]
  readonly result: WriteResult
  readonly revision: number
}

/** Maximum number of expired keys that one entry of the log removes. */
export const MAX_EXPIRED_KEYS = 1_000

/** State machine of the key-value service. It belongs to the main thread. */
export interface KvStateMachine extends StateMachine {
  /** Expiry time of the next key (ms since 1970); `Infinity` if no key expires. */
  readonly nextDue: number
  /** Records that all data is on the disk, so that the node can continue from it after a power cut. */
  settle(): Promise<void>
}

/**
 * Returns the number before a log's first revision. It depends on the log, so ETags of another log match no value here.
 */
const getFirstRevision = (epoch: string) => Math.floor(createHash('sha256').update(epoch).digest().readUIntBE(0, 6) / 2)

const parsePosition = (bytes: Buffer) => JSON.parse(bytes.toString()) as KvPosition

/** @throws FrameError */
function decodeBody(body: Buffer): LoggedWrite[] {
  try {
    return decodeWrites(body)
  } catch (error) {
    throw new FrameError(
      error instanceof UnknownWritesError ? 'LOG_FORMAT_UNKNOWN' : 'LOG_DAMAGED',
      (error as Error).message,
    )
  }
}

/** Returns the sequence up to which a database contains the log; 0 for an empty database. */
export function getSequence(db: KvDatabase, snapshot: ReturnType<KvDatabase['snapshot']>): number {
  const saved = db.getSync(POSITION_KEY, { snapshot })
  return saved ? parsePosition(saved).position.seq : 0
}

/**
 * Opens the state machine of a database. Deletes data that a power cut may have torn: LevelDB may have a newer change
 * without an older one, and the log has all of them.
 * @param feed receives the changes that are applied from now on
 * @param ttl state for the threads: the flag that a value may expire, and the log's clock
 */
export async function openKvStateMachine(
  level: KvLevel,
  feed: ChangeFeed,
  ttl = new TtlState(createTtlMemory()),
  maxExpired = MAX_EXPIRED_KEYS,
): Promise<KvStateMachine> {
  const { db } = level
  const found = await db.get(POSITION_KEY)
  let saved = found && parsePosition(found)
  const boot = readBootId()
  if (saved && isTorn(saved.boot)) {
    await clearLevel(level, POSITION_KEY)
    saved = undefined
  }
  let evaluated: EvaluatedBatch | undefined
  /** No key is due before this position. LevelDB steps over every deleted key, so no search begins before it. */
  let dueFrom = toDuePosition(0)
  let nextDue = Infinity
  await findFirstDue()
  feed.start(saved?.position.seq ?? 0)

  async function findFirstDue(): Promise<void> {
    const [first] = await readDueKeys(db, dueFrom, 1)
    dueFrom = first ? toDueKey(first.time, first.key) : DUE_END
    nextDue = first?.time ?? Infinity
    if (first) ttl.enable()
  }

  /** Updates the first due key once expiry changes are written. */
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

  /** Adds the changes to the feed, as copies: the bytes of an entry are a part of a larger message. */
  function publish(
    entries: readonly LogEntry[],
    { position, writes, result: { effects, ineffective } }: EvaluatedBatch,
  ): void {
    let from = 0
    for (const [i, { seq, at, body }] of entries.entries()) {
      const saved = effects.slice(from, (from += writes[i]!.length))
      // Most entries are published unchanged: all their writes took effect, and none expires or belongs to the service.
      const isAll = saved.every((revision, j) => revision !== undefined && !writes[i]![j]!.isSpecial)
      if (body.length > 0 && isAll) feed.add({ seq, writes: Buffer.from(body) })
      else {
        const visible = toWatchEvents(writes[i]!, saved, at, ineffective)
        if (visible.length > 0) feed.add({ seq, writes: encodeWrites(visible) })
      }
    }
    feed.advanceTo(position.seq)
  }

  const get = (key: Buffer) => db.getSync(key)

  async function evaluateAll(entries: readonly LogEntry[], position: LogPosition): Promise<EvaluatedBatch> {
    const before = saved?.revision ?? getFirstRevision(position.epoch)
    const isTimed = nextDue !== Infinity
    if (!entries.some(({ kind }) => kind !== WRITES_KIND)) {
      const writes = entries.map(({ body }) => decodeBody(body))
      const all = writes.flat()
      if (!isTimed && !all.some(({ isSpecial }) => isSpecial))
        return { position, writes, result: evaluate(all, before + 1, get, false), revision: before + all.length }
    }
    const evaluation = new WriteEvaluation(before + 1, get, isTimed)
    const writes: LoggedWrite[][] = []
    for (const { kind, at, body } of entries) {
      if (kind !== WRITES_KIND && kind !== EXPIRE_KIND)
        throw new FrameError('LOG_FORMAT_UNKNOWN', `has an entry of the unknown kind ${kind}`)
      const saved = kind === WRITES_KIND ? decodeBody(body) : (await getDueKeys(at, evaluation)).map(toRemoval)
      for (const write of saved) evaluation.evaluate(write, at)
      writes.push(saved)
    }
    return { position, writes, result: evaluation, revision: before + evaluation.outcomes.length }
  }

  /**
   * Returns the keys that have expired at a time, oldest first: the same on every node, for any other entries in the
   * batch.
   */
  async function getDueKeys(at: number, { expiries }: WriteEvaluation): Promise<DueKey[]> {
    const stored = await readDueKeys(db, dueFrom, maxExpired + expiries.size, toDuePosition(at + 1))
    const untouched = stored.filter(({ key }) => !expiries.has(key.toString('latin1')))
    const touched = Array.from(expiries.values(), ({ key, after }) => ({ key, time: after ?? Infinity }))
    return [...untouched, ...touched.filter(({ time }) => time <= at)].toSorted(compareDue).slice(0, maxExpired)
  }

  const toPositionBytes = (value: KvPosition) => Buffer.from(JSON.stringify(value))

  return {
    getPosition: () => saved?.position,
    get nextDue() {
      return nextDue
    },

    async apply(entries, position) {
      // An evaluated batch with this sequence could not be written before.
      if (evaluated?.position.seq !== position.seq) evaluated = await evaluateAll(entries, position)
      const { writes, result: judgement, revision } = evaluated
      const { outcomes, expiries } = judgement
      const next: KvPosition = { position, revision, boot }
      // Before reads see the write. A value that has expired by the log's clock is also absent here if this node's
      // clock is slow.
      if (expiries?.size) ttl.enable()
      if (ttl.isTimed) ttl.raiseFloor(entries.at(-1)!.at)
      const batch = await createBatch(db, writes.flat(), judgement)
      try {
        batch.put(POSITION_KEY, toPositionBytes(next))
        await level.write(() => batch.write())
      } finally {
        await batch.close()
      }
      saved = next
      if (expiries?.size) await updateFirstDue(expiries)
      publish(entries, evaluated)
      evaluated = undefined
      let from = 0
      return writes.map(({ length }) => outcomes.slice(from, (from += length)))
    },

    canLag: () => !feed.hasWaiters,

    snapshot: () => createSnapshotChunks(db, { name: SNAPSHOT_FORMAT, positionKey: POSITION_KEY }),

    async restore(chunks) {
      await clearLevel(level, POSITION_KEY)
      saved = undefined
      const bytes = await restoreSnapshot(chunks, db, [SNAPSHOT_FORMAT, FIRST_SNAPSHOT_FORMAT])
      const restored = { ...parsePosition(bytes), boot: CLEAN_BOOT }
      await markClean(level, POSITION_KEY, toPositionBytes(restored))
      saved = restored
      dueFrom = toDuePosition(0)
      await findFirstDue()
      feed.start(restored.position.seq)
    },

    async settle() {
      if (!saved || saved.boot === CLEAN_BOOT) return
      const settled = { ...saved, boot: CLEAN_BOOT }
      await markClean(level, POSITION_KEY, toPositionBytes(settled))
      saved = settled
    },
  }
}

const toRemoval = ({ key, time }: DueKey): LoggedWrite => ({ ops: [{ type: 'del', key }], condition: { due: time } })

const compareDue = (a: DueKey, b: DueKey) => a.time - b.time || Buffer.compare(a.key, b.key)
