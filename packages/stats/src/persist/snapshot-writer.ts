import { addEdits, hasSameEdits } from '../core/edits.ts'
import { hasSameTotals, getSince, sum, type Snapshot } from '../core/video-numbers.ts'
import type { Point } from '../core/history-points.ts'
import type { CollectionVersion, SnapshotRow, StatsState } from '../state/stats-state.ts'
import { RowWriter } from './row-writer.ts'

interface PendingSnapshot {
  readonly version: CollectionVersion
  readonly snapshot: Snapshot
}

/** Number of videos per write: about 500 KB. */
const BATCH_VIDEOS = 5_000

/** Writes the numbers of collections, independently of changes of the collections. */
export class SnapshotWriter {
  readonly #state: StatsState
  readonly #rows: RowWriter<PendingSnapshot>
  /** The collection that is being changed: its pending numbers belong to the previous version. */
  #changing: string | undefined

  /** @param onFault called with the cause when numbers cannot be written, once per outage */
  constructor(state: StatsState, onFault: (fault: unknown) => void) {
    this.#state = state
    this.#rows = new RowWriter({
      write: (batch) => this.#write(batch),
      getSize: ({ snapshot }) => snapshot.videos.length + 1,
      maxBatchSize: BATCH_VIDEOS,
      onFault,
    })
  }

  /** Resolves when these or newer numbers are written, or become obsolete; at once while the state fails. */
  save({ id, revision }: CollectionVersion, snapshot: Snapshot): Promise<void> {
    const before = this.#rows.get(id)
    const isNewer = !before || before.version.revision < revision || getSince(before.snapshot) <= getSince(snapshot)
    return this.#rows.set(id, isNewer ? { version: { id, revision }, snapshot } : before)
  }

  /** Runs a change of a collection while none of its numbers are being written. Only one such change may run at a time. */
  async runWithoutWrites<T>(id: string, change: () => Promise<T>): Promise<T> {
    this.#changing = id
    try {
      await this.#rows.remove(id)
      return await change()
    } finally {
      this.#changing = undefined
    }
  }

  /** Writes the pending numbers if the state is available. Idempotent. */
  close(): Promise<void> {
    return this.#rows.close()
  }

  async #write(batch: readonly PendingSnapshot[]): Promise<void> {
    const rows = await Promise.all(batch.map((one) => this.#toRow(one)))
    const newRows = rows.filter((row) => row !== undefined)
    if (newRows.length > 0) await this.#state.putSnapshots(newRows)
  }

  /** Returns the row to write; undefined if the collection has changed, or has later numbers. */
  async #toRow({ version: { id, revision }, snapshot }: PendingSnapshot): Promise<SnapshotRow | undefined> {
    const collection = await this.#state.get(id)
    if (collection?.revision !== revision || id === this.#changing) return undefined
    const last = await this.#state.getSnapshot(id)
    // Later numbers remain, unless their time is in the future: then the clock was set back.
    if (last && getSince(last) > getSince(snapshot) && getSince(last) <= Date.now()) return undefined
    const at = getSince(snapshot)
    // Snapshots of version 0.2 have no `point`.
    const lastPoint = last && (last.point ?? (await this.#state.getPointAt(id, getSince(last))))
    const { added, removed } = lastPoint ?? {}
    const edits = last ? addEdits({ added, removed }, last.videos, snapshot.videos, at) : {}
    const totals = sum(snapshot.videos)
    if (lastPoint && hasSameTotals(sum(last.videos), totals) && hasSameEdits(edits, lastPoint)) {
      return { id, revision, snapshot: { ...snapshot, point: { at: lastPoint.at, ...edits } } }
    }
    const point: Point = {
      at,
      ...totals,
      ...(snapshot.asOf < at && { asOf: snapshot.asOf }),
      ...(lastPoint && { before: [lastPoint.at, Math.max(lastPoint.at, last.asOf)] }),
      ...edits,
    }
    return { id, revision, snapshot: { ...snapshot, point: { at, ...edits } }, point }
  }
}
