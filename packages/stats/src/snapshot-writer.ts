import { createBackOff } from '@influencer-stats/runtime/back-off'
import { setTimeout as delay } from 'node:timers/promises'
import { addEdits, sameEdits } from './core/edits.ts'
import { sameTotals, sinceOf, sum, type Snapshot } from './core/numbers.ts'
import type { Point } from './core/history.ts'
import type { CollectionVersion, SnapshotRow, State } from './state/state.ts'

interface Waiting {
  readonly version: CollectionVersion
  readonly snapshot: Snapshot
  readonly written: PromiseWithResolvers<void>
}

/** Videos in one write: some 500 KB. */
const BATCH = 5_000

/**
 * Writes the numbers of collections behind the changes' back: many collections at once, and of each the newest only.
 * While the state fails nobody waits for it: the newest numbers are kept here, and written when it is back.
 */
export class SnapshotWriter {
  readonly #state: State
  readonly #onFault: (fault: unknown) => void
  readonly #waiting = new Map<string, Waiting>()
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined
  #batch = new Map<string, Waiting>()
  #isOut = false
  /** The collection that is being changed: its numbers are of another from then on. */
  #changing: string | undefined

  /** @param onFault told why numbers cannot be written, once for each outage */
  constructor(state: State, onFault: (fault: unknown) => void) {
    this.#state = state
    this.#onFault = onFault
  }

  /** Resolves when these or newer numbers are written, or need not be; at once while the state fails. */
  async save({ id, revision }: CollectionVersion, snapshot: Snapshot): Promise<void> {
    if (this.#closing.signal.aborted) return
    const before = this.#waiting.get(id)
    const written = before?.written ?? Promise.withResolvers<void>()
    if (!before || before.version.revision < revision || sinceOf(before.snapshot) <= sinceOf(snapshot)) {
      this.#waiting.set(id, { version: { id, revision }, snapshot, written })
    }
    this.#running ??= this.#run()
    if (!this.#isOut) await written.promise
  }

  /** Runs a change of a collection while none of its numbers are being written. One at a time. */
  async without<T>(id: string, change: () => Promise<T>): Promise<T> {
    this.#changing = id
    try {
      this.#forget(id)
      await this.#batch.get(id)?.written.promise
      return await change()
    } finally {
      this.#changing = undefined
    }
  }

  /** Writes what waits, if it can be written now. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  #forget(id: string): void {
    this.#waiting.get(id)?.written.resolve()
    this.#waiting.delete(id)
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    const delays = createBackOff()
    while (this.#waiting.size > 0) {
      this.#batch = this.#take()
      try {
        await this.#write([...this.#batch.values()])
        this.#isOut = false
      } catch (fault) {
        if (!this.#isOut) this.#onFault(fault)
        this.#isOut = true
        for (const [id, one] of this.#batch) if (!this.#waiting.has(id)) this.#waiting.set(id, one)
        for (const { written } of this.#waiting.values()) written.resolve()
      }
      for (const { written } of this.#batch.values()) written.resolve()
      this.#batch = new Map()
      if (!this.#isOut) continue
      if (signal.aborted) break
      await delay(delays.next(), undefined, { signal }).catch(() => {})
    }
    this.#running = undefined
  }

  #take(): Map<string, Waiting> {
    const batch = new Map<string, Waiting>()
    let videos = 0
    for (const [id, one] of this.#waiting) {
      batch.set(id, one)
      this.#waiting.delete(id)
      videos += one.snapshot.videos.length + 1
      if (videos >= BATCH) break
    }
    return batch
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const rows = await Promise.all(batch.map((one) => this.#rowOf(one)))
    const news = rows.filter((row) => row !== undefined)
    if (news.length > 0) await this.#state.putSnapshots(news)
  }

  /** What there is to write: nothing if the collection is another by now, or has later numbers. */
  async #rowOf({ version: { id, revision }, snapshot }: Waiting): Promise<SnapshotRow | undefined> {
    const collection = await this.#state.get(id)
    if (collection?.revision !== revision || id === this.#changing) return undefined
    const last = await this.#state.snapshot(id)
    // Later than now: the clock was set back.
    if (last && sinceOf(last) > sinceOf(snapshot) && sinceOf(last) <= Date.now()) return undefined
    const at = sinceOf(snapshot)
    // Snapshots of version 0.2 have no `point`.
    const lastPoint = last && (last.point ?? (await this.#state.pointAt(id, sinceOf(last))))
    const { added, removed } = lastPoint ?? {}
    const edits = last ? addEdits({ added, removed }, last.videos, snapshot.videos, at) : {}
    const totals = sum(snapshot.videos)
    if (lastPoint && sameTotals(sum(last.videos), totals) && sameEdits(edits, lastPoint)) {
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
