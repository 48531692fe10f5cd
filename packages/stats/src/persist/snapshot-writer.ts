import { Outage } from '@influencer-stats/runtime/async/outage'
import { createBackOff, pause } from '@influencer-stats/runtime/async/retry'
import { addEdits, hasSameEdits } from '../core/edits.ts'
import { hasSameTotals, getSince, sum, type Snapshot } from '../core/video-numbers.ts'
import type { Point } from '../core/history-points.ts'
import type { CollectionVersion, SnapshotRow, StatsState } from '../state/stats-state.ts'

interface PendingSnapshot {
  readonly version: CollectionVersion
  readonly snapshot: Snapshot
  readonly written: PromiseWithResolvers<void>
}

/** Number of videos per write: about 500 KB. */
const BATCH_VIDEOS = 5_000

/**
 * Writes the numbers of collections, independently of changes of the collections: many collections at once, and only the
 * newest numbers of each. While the state fails no caller waits: this class holds the newest numbers and writes them when the
 * state is available again.
 */
export class SnapshotWriter {
  readonly #state: StatsState
  readonly #pending = new Map<string, PendingSnapshot>()
  readonly #outage: Outage
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined
  #batch = new Map<string, PendingSnapshot>()
  /** The collection that is being changed: its pending numbers belong to the previous version. */
  #changing: string | undefined

  /** @param onFault called with the cause when numbers cannot be written, once per outage */
  constructor(state: StatsState, onFault: (fault: unknown) => void) {
    this.#state = state
    this.#outage = new Outage({ onStart: onFault })
  }

  /** Resolves when these or newer numbers are written, or become obsolete; at once while the state fails. */
  async save({ id, revision }: CollectionVersion, snapshot: Snapshot): Promise<void> {
    if (this.#closing.signal.aborted) return
    const before = this.#pending.get(id)
    const written = before?.written ?? Promise.withResolvers<void>()
    if (!before || before.version.revision < revision || getSince(before.snapshot) <= getSince(snapshot)) {
      this.#pending.set(id, { version: { id, revision }, snapshot, written })
    }
    this.#running ??= this.#run()
    if (!this.#outage.isActive) await written.promise
  }

  /** Runs a change of a collection while none of its numbers are being written. Only one such change may run at a time. */
  async runWithoutWrites<T>(id: string, change: () => Promise<T>): Promise<T> {
    this.#changing = id
    try {
      this.#drop(id)
      await this.#batch.get(id)?.written.promise
      return await change()
    } finally {
      this.#changing = undefined
    }
  }

  /** Writes the pending numbers if the state is available. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  #drop(id: string): void {
    this.#pending.get(id)?.written.resolve()
    this.#pending.delete(id)
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    const delays = createBackOff()
    while (this.#pending.size > 0) {
      this.#batch = this.#takeBatch()
      try {
        await this.#write([...this.#batch.values()])
        this.#outage.succeed()
      } catch (fault) {
        this.#outage.fail(fault)
        for (const [id, one] of this.#batch) if (!this.#pending.has(id)) this.#pending.set(id, one)
        for (const { written } of this.#pending.values()) written.resolve()
      }
      for (const { written } of this.#batch.values()) written.resolve()
      this.#batch = new Map()
      if (!this.#outage.isActive) continue
      if (signal.aborted) break
      await pause(delays.next(), signal)
    }
    this.#running = undefined
  }

  #takeBatch(): Map<string, PendingSnapshot> {
    const batch = new Map<string, PendingSnapshot>()
    let videos = 0
    for (const [id, one] of this.#pending) {
      batch.set(id, one)
      this.#pending.delete(id)
      videos += one.snapshot.videos.length + 1
      if (videos >= BATCH_VIDEOS) break
    }
    return batch
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
