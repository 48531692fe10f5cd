import { FrameError } from '@influencer-stats/log/errors'
import { readSnapshot, snapshotPieces } from '@influencer-stats/log/level-snapshot'
import { CLEAN, clearLevel, isTorn, keepClean } from '@influencer-stats/log/level-view'
import type { Entry, Position, View } from '@influencer-stats/log/log'
import { bootId } from '@influencer-stats/runtime/boot-id'
import { createHash } from 'node:crypto'
import { Draft, judge, type Judgement } from '../core/judge.ts'
import { DUE_END, dueKey, duePosition, type Due } from '../core/own-keys.ts'
import { decodeWrites, encodeWrites, EXPIRE, WRITES, WritesUnknown, type LoggedWrite } from '../core/writes.ts'
import type { Feed } from '../watch/feed.ts'
import { toTell } from '../watch/recorder.ts'
import type { KvLevel, Level } from './commit.ts'
import { dueIn } from './level.ts'
import { Expiring, expiryMemory } from './expiries.ts'
import { createBatch } from './level-batch.ts'
import { OWN_KEY } from './revisions.ts'

/** What the service's own key holds, in the base of a node: how far it is, and what it needs to go on. */
interface Own {
  readonly position: Position
  /** The last write's number. */
  readonly revision: number
  /** The run of the machine on which that was written, or `clean`: all of it is on the disk. */
  readonly boot: string | undefined
}

const SNAPSHOT = 'kv snapshot 2'
/** Without keys of the service's own but one. */
const FIRST_SNAPSHOT = 'kv snapshot 1'

/** What a batch was judged to be, until it is written: after a fault it is written as it is, not judged again. */
interface Judged {
  readonly position: Position
  /** Of each entry. */
  readonly writes: readonly (readonly LoggedWrite[])[]
  readonly judgement: Judgement
  readonly revision: number
}

/** So many keys are taken away by one entry of the log at most. */
export const MOST_EXPIRED = 1_000

/** The key-value service's view of the log. Main's. */
export interface LogView extends View {
  /** When the next key expires (ms since 1970); `Infinity`: none does. */
  readonly nextDue: number
  /** All of it is on the disk: after a power cut it can be gone on with. */
  settle(): Promise<void>
}

/** Number of a log's first revision: no tag of another log fits a value of this one. */
const firstRevision = (epoch: string) => Math.floor(createHash('sha256').update(epoch).digest().readUIntBE(0, 6) / 2)

const parseOwn = (bytes: Buffer) => JSON.parse(bytes.toString()) as Own

/** @throws FrameError */
function read(body: Buffer): LoggedWrite[] {
  try {
    return decodeWrites(body)
  } catch (error) {
    throw new FrameError(
      error instanceof WritesUnknown ? 'LOG_FORMAT_UNKNOWN' : 'LOG_DAMAGED',
      (error as Error).message,
    )
  }
}

/** The place in the log up to which a base is. */
export function sequenceIn(db: Level, snapshot: ReturnType<Level['snapshot']>): number {
  const own = db.getSync(OWN_KEY, { snapshot })
  return own ? parseOwn(own).position.seq : 0
}

/**
 * Opens the view that a base is. What a power cut may have torn is thrown away: LevelDB may keep a newer change without an
 * older one, and the log has all of them.
 * @param feed gets what is applied from here on
 * @param expiring state for the threads: the flag that a value may expire, and the log's clock
 */
export async function openLogView(
  level: KvLevel,
  feed: Feed,
  expiring = new Expiring(expiryMemory()),
  mostExpired = MOST_EXPIRED,
): Promise<LogView> {
  const { db } = level
  const found = await db.get(OWN_KEY)
  let own = found && parseOwn(found)
  const boot = bootId()
  if (own && isTorn(own.boot)) {
    await clearLevel(level, OWN_KEY)
    own = undefined
  }
  let judged: Judged | undefined
  /** No key is due before this position. LevelDB steps over every deleted key, so no search begins before it. */
  let duePast = duePosition(0)
  let nextDue = Infinity
  await findFirstDue()
  feed.start(own?.position.seq ?? 0)

  async function findFirstDue(): Promise<void> {
    const [first] = await dueIn(db, duePast, 1)
    duePast = first ? dueKey(first.time, first.key) : DUE_END
    nextDue = first?.time ?? Infinity
    if (first) expiring.begin()
  }

  /** Updates the first due key once expiry changes are written. */
  async function followExpiries(expiries: NonNullable<Judgement['expiries']>): Promise<void> {
    let isFirstGone = false
    for (const { key, before, after } of expiries.values()) {
      if (before === after) continue
      if (before === nextDue && dueKey(before, key).equals(duePast)) isFirstGone = true
      if (after === undefined || after > nextDue) continue
      const position = dueKey(after, key)
      if (position.compare(duePast) > 0) continue
      duePast = position
      nextDue = after
      isFirstGone = false
    }
    if (isFirstGone) await findFirstDue()
  }

  /** What was changed, for who watches, as bytes of its own: those of an entry are a part of what came with it. */
  function tell(entries: readonly Entry[], { position, writes, judgement: { effects, ineffective } }: Judged): void {
    let from = 0
    for (const [i, { seq, at, body }] of entries.entries()) {
      const own = effects.slice(from, (from += writes[i]!.length))
      // Most entries are told as they are: nothing in them was refused, expires, or is the service's.
      const isAll = own.every((revision, j) => revision !== undefined && !writes[i]![j]!.isSpecial)
      if (body.length > 0 && isAll) feed.add({ seq, writes: Buffer.from(body) })
      else {
        const told = toTell(writes[i]!, own, at, ineffective)
        if (told.length > 0) feed.add({ seq, writes: encodeWrites(told) })
      }
    }
    feed.advance(position.seq)
  }

  const get = (key: Buffer) => db.getSync(key)

  async function judgeAll(entries: readonly Entry[], position: Position): Promise<Judged> {
    const before = own?.revision ?? firstRevision(position.epoch)
    const isTimed = nextDue !== Infinity
    if (!entries.some(({ kind }) => kind !== WRITES)) {
      const writes = entries.map(({ body }) => read(body))
      const all = writes.flat()
      if (!isTimed && !all.some(({ isSpecial }) => isSpecial))
        return { position, writes, judgement: judge(all, before + 1, get, false), revision: before + all.length }
    }
    const draft = new Draft(before + 1, get, isTimed)
    const writes: LoggedWrite[][] = []
    for (const { kind, at, body } of entries) {
      if (kind !== WRITES && kind !== EXPIRE) throw new FrameError('LOG_FORMAT_UNKNOWN', `has an entry of kind ${kind}`)
      const own = kind === WRITES ? read(body) : (await dueAt(at, draft)).map(toRemoval)
      for (const write of own) draft.judge(write, at)
      writes.push(own)
    }
    return { position, writes, judgement: draft, revision: before + draft.outcomes.length }
  }

  /** What has expired by then, the oldest first: the same on every node, whatever else is judged with it. */
  async function dueAt(at: number, { expiries }: Draft): Promise<Due[]> {
    const kept = await dueIn(db, duePast, mostExpired + expiries.size, duePosition(at + 1))
    const untouched = kept.filter(({ key }) => !expiries.has(key.toString('latin1')))
    const touched = Array.from(expiries.values(), ({ key, after }) => ({ key, time: after ?? Infinity }))
    return [...untouched, ...touched.filter(({ time }) => time <= at)].toSorted(inOrder).slice(0, mostExpired)
  }

  const ownBytes = (value: Own) => Buffer.from(JSON.stringify(value))

  return {
    position: () => own?.position,
    get nextDue() {
      return nextDue
    },

    async apply(entries, position) {
      // The same again, because it could not be written.
      if (judged?.position.seq !== position.seq) judged = await judgeAll(entries, position)
      const { writes, judgement, revision } = judged
      const { outcomes, expiries } = judgement
      const next: Own = { position, revision, boot }
      // Before reads see the write. A value that has expired by the log's clock is also absent here if this node's clock is slow.
      if (expiries?.size) expiring.begin()
      if (expiring.isTimed) expiring.raise(entries.at(-1)!.at)
      const batch = await createBatch(db, writes.flat(), judgement)
      try {
        batch.put(OWN_KEY, ownBytes(next))
        await level.write(() => batch.write())
      } finally {
        await batch.close()
      }
      own = next
      if (expiries?.size) await followExpiries(expiries)
      tell(entries, judged)
      judged = undefined
      let from = 0
      return writes.map(({ length }) => outcomes.slice(from, (from += length)))
    },

    mayLag: () => !feed.isAwaited,

    snapshot: () => snapshotPieces(db, { name: SNAPSHOT, ownKey: OWN_KEY }),

    async restore(pieces) {
      await clearLevel(level, OWN_KEY)
      own = undefined
      const bytes = await readSnapshot(pieces, db, [SNAPSHOT, FIRST_SNAPSHOT])
      const restored = { ...parseOwn(bytes), boot: CLEAN }
      await keepClean(level, OWN_KEY, ownBytes(restored))
      own = restored
      duePast = duePosition(0)
      await findFirstDue()
      feed.start(restored.position.seq)
    },

    async settle() {
      if (!own || own.boot === CLEAN) return
      const clean = { ...own, boot: CLEAN }
      await keepClean(level, OWN_KEY, ownBytes(clean))
      own = clean
    },
  }
}

const toRemoval = ({ key, time }: Due): LoggedWrite => ({ ops: [{ type: 'del', key }], condition: { due: time } })

const inOrder = (a: Due, b: Due) => a.time - b.time || Buffer.compare(a.key, b.key)
