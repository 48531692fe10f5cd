import { superfluous, type Point } from './core/history.ts'
import { distinct, MAX_VIDEOS } from './core/ids.ts'
import { sameTotals, sum, type Snapshot } from './core/numbers.ts'
import { errors } from './errors.ts'
import { historyPages } from './history-pages.ts'
import type { Collection, CollectionVersion, Maybe, State, StateReader } from './state/state.ts'

/** The collections as routes and caches see them, whichever thread owns the state. */
export interface Collections extends StateReader {
  /** @returns whether the collection is new */
  put(id: string, videos: readonly string[]): Promise<{ collection: Collection; created: boolean }>
  /** @returns whether there was one */
  delete(id: string): Promise<boolean>
  /** @returns whether the video is new; @throws Problem `COLLECTION_NOT_FOUND`, `COLLECTION_FULL` */
  addVideo(id: string, video: string): Promise<{ collection: Collection; created: boolean }>
  /** @throws Problem `COLLECTION_NOT_FOUND`, `VIDEO_NOT_IN_COLLECTION` */
  removeVideo(id: string, video: string): Promise<Collection>
  /**
   * Remembers numbers; the history gets a point if the sums changed. Nothing happens if the collection is gone, or is
   * another since its numbers were asked for.
   */
  saveSnapshot(collection: CollectionVersion, snapshot: Snapshot): Promise<void>
}

export interface OwnerOptions {
  readonly state: State
  /** How long a history goes back (ms). */
  readonly retention: number
  /** Called after a collection changed, before whoever changed it gets an answer. */
  readonly onChange?: (id: string, collection: Collection | undefined) => Maybe<void>
  /** Told why the histories could not be tidied; the next try is an hour later. */
  readonly onTidyFault?: (fault: unknown) => void
}

const TIDY_EVERY = 3_600_000
const PAGE = 100

function rethrow(fault: unknown): never {
  throw fault
}

/** The one owner of a state: changes it one step at a time, so that no two of them mix. */
export class CollectionsOwner implements Collections {
  readonly #state: State
  readonly #retention: number
  readonly #onChange: NonNullable<OwnerOptions['onChange']>
  readonly #tidying: NodeJS.Timeout
  #last: Promise<unknown> = Promise.resolve()
  #lastRevision = 0

  constructor({ state, retention, onChange, onTidyFault = rethrow }: OwnerOptions) {
    this.#state = state
    this.#retention = retention
    this.#onChange = onChange ?? (() => {})
    this.#tidying = setInterval(() => void this.tidy().catch(onTidyFault), TIDY_EVERY).unref()
  }

  get isRemote() {
    return this.#state.isRemote
  }

  get(id: string) {
    return this.#state.get(id)
  }

  list(after: string, limit: number) {
    return this.#state.list(after, limit)
  }

  snapshot(id: string) {
    return this.#state.snapshot(id)
  }

  /** The last known numbers of a page of `list`, in its order. */
  snapshots(ids: readonly string[]) {
    return this.#state.snapshots(ids)
  }

  history(id: string, from: number, to: number, limit: number) {
    return this.#state.history(id, from, to, limit)
  }

  put(id: string, videos: readonly string[]) {
    return this.#inTurn(async () => {
      const created = (await this.#state.get(id)) === undefined
      return { collection: await this.#store(id, distinct(videos)), created }
    })
  }

  delete(id: string) {
    return this.#inTurn(async () => {
      if ((await this.#state.get(id)) === undefined) return false
      await this.#state.delete(id)
      await this.#onChange(id, undefined)
      return true
    })
  }

  addVideo(id: string, video: string) {
    return this.#inTurn(async () => {
      const collection = await this.#existing(id)
      if (collection.videos.includes(video)) return { collection, created: false }
      if (collection.videos.length >= MAX_VIDEOS) throw errors.COLLECTION_FULL(`${MAX_VIDEOS} videos at most`)
      return { collection: await this.#store(id, [...collection.videos, video]), created: true }
    })
  }

  removeVideo(id: string, video: string) {
    return this.#inTurn(async () => {
      const { videos } = await this.#existing(id)
      if (!videos.includes(video)) throw errors.VIDEO_NOT_IN_COLLECTION()
      return this.#store(
        id,
        videos.filter((other) => other !== video),
      )
    })
  }

  saveSnapshot({ id, revision }: CollectionVersion, snapshot: Snapshot) {
    return this.#inTurn(async () => {
      if ((await this.#state.get(id))?.revision !== revision) return
      const last = await this.#state.snapshot(id)
      if (last && last.asOf > snapshot.asOf) return
      const totals = sum(snapshot.videos)
      const changed = !last || !sameTotals(sum(last.videos), totals)
      await this.#state.putSnapshot(id, snapshot, changed ? { at: snapshot.asOf, ...totals } : undefined)
    })
  }

  /** Thins every history: all points of a day, then one an hour, none older than the retention. */
  async tidy(now = Date.now()): Promise<void> {
    for (let after = '', page; (page = await this.#state.list(after, PAGE)).length > 0; after = page.at(-1)!.id) {
      for (const { id } of page) await this.#thin(id, now)
    }
  }

  async #thin(id: string, now: number): Promise<void> {
    let last: Point[] = []
    for await (const page of historyPages(this.#state, id, 0, now)) {
      const points = [...last, ...page]
      const times = superfluous(points, now, this.#retention)
      // Judged once more with the points after it.
      last = points.slice(-1)
      if (times.length > 0) await this.#inTurn(async () => this.#state.deletePoints(id, times))
    }
  }

  /** Waits for what was begun and closes the state. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#tidying)
    await this.#last
    await this.#state.close()
  }

  async #existing(id: string): Promise<Collection> {
    const collection = await this.#state.get(id)
    if (!collection) throw errors.COLLECTION_NOT_FOUND(id)
    return collection
  }

  async #store(id: string, videos: readonly string[]): Promise<Collection> {
    // Microseconds, so that no revision is given twice, not even over a restart.
    this.#lastRevision = Math.max(this.#lastRevision + 1, Date.now() * 1000)
    const collection = { id, videos, revision: this.#lastRevision }
    await this.#state.put(collection)
    await this.#onChange(id, collection)
    return collection
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(step)
    this.#last = turn.catch(() => {})
    return turn
  }
}
