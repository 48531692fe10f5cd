import { FrameError } from '@influencer-stats/log/errors'
import { CLEAN_BOOT, clearLevel, isTorn, markClean } from '@influencer-stats/log/level-state-machine'
import type { LogEntry, LogPosition, StateMachine } from '@influencer-stats/log/log'
import { readBootId } from '@influencer-stats/runtime/boot-id'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { currentSource, withSource, type Sources } from '../core/sources.ts'
import { CHANGE, decodeChange, type Change } from './change.ts'
import { collectionKey, keysOfAll, keysOfSource, type SourceKeys } from './keys.ts'
import { sourcesIn } from './level.ts'
import { rowsOf, writeRows, type Row } from './level-rows.ts'
import { OWN_KEY, readSnapshot, snapshotPieces } from './snapshot.ts'

/** How far the base of a node is. */
interface Own {
  readonly position: LogPosition
  /** The run of the machine on which that was written, or `clean`: all of it is on the disk. */
  readonly boot: string | undefined
}

/** What a batch was judged to be, until it is written: after a fault it is written as it is, not judged again. */
interface Judged {
  readonly position: LogPosition
  readonly rows: readonly Row[]
  /** Whether each entry counts. */
  readonly outcomes: readonly boolean[]
  /** What of them does. */
  readonly changes: readonly Change[]
}

/** The stats service's view of the log. Main's. */
export interface LogView extends StateMachine {
  /** All of it is on the disk: after a power cut it can be gone on with. */
  settle(): Promise<void>
}

export interface LogViewOptions {
  readonly level: SharedLevel
  /** Told what has changed, in its order, once it can be read. */
  onChanges(changes: readonly Change[]): void
}

const ownRow = (own: Own): Row => ({ type: 'put', key: OWN_KEY, value: JSON.stringify(own) })

/**
 * Opens the view that a base is. What a power cut may have torn is thrown away: LevelDB may keep a newer change without an
 * older one, and the log has all of them.
 */
export async function openLogView({ level, onChanges }: LogViewOptions): Promise<LogView> {
  const { db } = level
  const found = await db.get(OWN_KEY)
  let own: Own | undefined = found === undefined ? undefined : JSON.parse(found)
  const boot = readBootId()
  if (own && isTorn(own.boot)) {
    await clearLevel(level, OWN_KEY)
    own = undefined
  }
  let judged: Judged | undefined

  async function judge(entries: readonly LogEntry[], position: LogPosition): Promise<Judged> {
    const batch = new Batch(level)
    const outcomes: boolean[] = []
    const changes: Change[] = []
    for (const entry of entries) {
      const change = await batch.take(read(entry))
      outcomes.push(change !== undefined)
      if (change) changes.push(change)
    }
    return { position, rows: batch.rows, outcomes, changes }
  }

  function read({ kind, seq, body }: LogEntry): Change {
    const change = kind === CHANGE ? decodeChange(body) : undefined
    if (change && change.type in handlers) return change
    throw new FrameError('LOG_FORMAT_UNKNOWN', `what is at ${seq} is of a kind that this version does not know`)
  }

  return {
    getPosition: () => own?.position,

    async apply(entries, position) {
      // The same again, because it could not be written.
      if (judged?.position.seq !== position.seq) judged = await judge(entries, position)
      const { rows, outcomes, changes } = judged
      const next: Own = { position, boot }
      await level.write(() => writeRows(db, [...rows, ownRow(next)]))
      own = next
      judged = undefined
      onChanges(changes)
      return [...outcomes]
    },

    snapshot: () => snapshotPieces(db),

    async restore(pieces) {
      await clearLevel(level, OWN_KEY)
      own = undefined
      await toClean(JSON.parse(await readSnapshot(pieces, db)))
    },

    async settle() {
      if (own && own.boot !== CLEAN_BOOT) await toClean(own)
    },
  }

  async function toClean(last: Own): Promise<void> {
    const clean = { ...last, boot: CLEAN_BOOT }
    await markClean(level, OWN_KEY, JSON.stringify(clean))
    own = clean
  }
}

/** Entries that are written at once: each is judged by what those before it will have left. */
class Batch {
  readonly rows: Row[] = []
  readonly #db: SharedLevel['db']
  /** Of the collections that are changed in this batch. */
  readonly #revisions = new Map<string, number | undefined>()
  #sources: Sources

  constructor({ db }: SharedLevel) {
    this.#db = db
    this.#sources = sourcesIn(db)
  }

  /** Gives back what of a change counts, if anything does: numbers do not that come from another source than the log's. */
  async take(change: Change): Promise<Change | undefined> {
    if ('from' in change && change.from !== this.source) return undefined
    const handle = handlers[change.type] as (batch: Batch, change: Change) => Promise<Change | undefined>
    return handle(this, change)
  }

  get sources(): Sources {
    return this.#sources
  }

  set sources(sources: Sources) {
    this.#sources = sources
    this.add(rowsOf.sources(sources))
  }

  /** The log's. */
  get source(): string | undefined {
    return currentSource(this.#sources)
  }

  /** Where its numbers are. */
  get keys(): SourceKeys {
    return keysOfSource(this.#sources.current)
  }

  revisionOf(id: string): number | undefined {
    if (this.#revisions.has(id)) return this.#revisions.get(id)
    const text = this.#db.getSync(collectionKey(id))
    return text === undefined ? undefined : JSON.parse(text).revision
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) this.rows.push(row)
  }

  setRevision(id: string, revision: number | undefined): void {
    this.#revisions.set(id, revision)
  }

  /** Forgets the histories of a collection, of every source: what is kept of them, and what this batch adds. */
  async forgetHistory(id: string): Promise<void> {
    for (const { history } of keysOfAll(this.#sources)) {
      const { gt, lt } = history(id)
      const keys = await this.#db.keys({ gt, lt }).all()
      for (const row of this.rows) if (row.type === 'put' && row.key > gt && row.key < lt) keys.push(row.key)
      this.add(keys.map((key) => ({ type: 'del', key })))
    }
  }
}

type Handlers = {
  [Type in Change['type']]: (batch: Batch, change: Extract<Change, { type: Type }>) => Promise<Change | undefined>
}

const handlers: Handlers = {
  async put(batch, change) {
    const { collection, before } = change
    if (batch.revisionOf(collection.id) !== before) return undefined
    batch.setRevision(collection.id, collection.revision)
    batch.add(rowsOf.collection(collection))
    return change
  },
  async delete(batch, change) {
    const { id, before } = change
    if (batch.revisionOf(id) !== before) return undefined
    batch.setRevision(id, undefined)
    batch.add(rowsOf.noCollection(id, batch.sources))
    await batch.forgetHistory(id)
    return change
  },
  async snapshots(batch, change) {
    // The collection may have been changed while its numbers were on their way: they are those of another.
    const rows = change.rows.filter(({ id, revision }) => revision === undefined || batch.revisionOf(id) === revision)
    batch.add(rowsOf.snapshots(rows, batch.keys))
    return { ...change, rows }
  },
  async videos(batch, change) {
    batch.add(rowsOf.videos(change.rows, batch.keys))
    return change
  },
  async deleteVideos(batch, change) {
    batch.add(rowsOf.noVideos(change.ids, batch.keys))
    return change
  },
  async deletePoints(batch, change) {
    batch.add(rowsOf.noPoints(change.id, change.times, batch.keys))
    return change
  },
  async usage(batch, change) {
    batch.add(rowsOf.usage(change.usage))
    return change
  },
  async source(batch, change) {
    if (batch.source !== change.before) return undefined
    batch.sources = withSource(batch.sources, change.source)
    return change
  },
  asked: async (_, change) => change,
  wanted: async (_, change) => change,
  failed: async (_, change) => change,
}
