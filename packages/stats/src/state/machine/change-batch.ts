import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { QuotaUsage } from '../../core/quota-budget.ts'
import { COLLECTION_KINDS, type RecordKind } from '../../core/record-kinds.ts'
import { getCurrentSource, type Sources } from '../../core/sources.ts'
import { readSources } from '../level-database.ts'
import {
  getAllKeys,
  getRecordKeys,
  getSourceKeys,
  toCollectionKey,
  USAGE_KEY,
  type SourceKeys,
  type StatsKeyRange,
} from '../level-keys.ts'
import { buildRows, type LevelRow } from '../level-rows.ts'
import type { Collection, TrashedCollection } from '../stats-state.ts'

/** Keys of records without a source. */
const ROOT_KEYS = getSourceKeys(0)

/** Entries that are written together. Each is evaluated against the result of the entries before it. */
export class ChangeBatch {
  readonly rows: LevelRow[] = []
  readonly #db: SharedLevel['db']
  /** Revisions of the collections that this batch changes. */
  readonly #revisions = new Map<string, number | undefined>()
  /** Revisions in the trash that this batch changes. */
  readonly #trashed = new Map<string, number | undefined>()
  #sources: Sources

  constructor({ db }: SharedLevel) {
    this.#db = db
    this.#sources = readSources(db)
  }

  get sources(): Sources {
    return this.#sources
  }

  set sources(sources: Sources) {
    this.#sources = sources
    this.add(buildRows.sources(sources))
  }

  /** Source of the log. */
  get source(): string | undefined {
    return getCurrentSource(this.#sources)
  }

  /** Keys of the numbers of the log's source. */
  get keys(): SourceKeys {
    return getSourceKeys(this.#sources.current)
  }

  /** Returns the keys of a source, which is added if it is new. */
  getKeysOf(source: string): SourceKeys {
    const { names, current } = this.#sources
    if (!names.includes(source)) this.sources = { names: [...names, source], current }
    return getSourceKeys(this.#sources.names.indexOf(source))
  }

  getRevision(id: string): number | undefined {
    if (this.#revisions.has(id)) return this.#revisions.get(id)
    return this.getStored(toCollectionKey(id))?.revision
  }

  /** Returns the revision of a collection in the trash. */
  getTrashedRevision(id: string): number | undefined {
    if (this.#trashed.has(id)) return this.#trashed.get(id)
    return this.getStored(ROOT_KEYS.record('trash', id))?.revision
  }

  /** Moves a collection to the trash, or removes it from there. */
  setTrashed(id: string, collection: TrashedCollection | undefined): true {
    this.#trashed.set(id, collection?.revision)
    return this.add(buildRows.records([{ kind: 'trash', key: id, value: collection }], this.keys))
  }

  /** Moves a collection to the trash. Its numbers, its history and its records remain. */
  moveToTrash(collection: TrashedCollection): true {
    this.setRevision(collection.id, undefined)
    this.add([{ type: 'del', key: toCollectionKey(collection.id) }])
    return this.setTrashed(collection.id, collection)
  }

  /** Stores a collection, which may be in the trash. */
  takeFromTrash(collection: Collection): true {
    const { id, revision } = collection
    if (this.getTrashedRevision(id) !== undefined) this.setTrashed(id, undefined)
    this.setRevision(id, revision)
    return this.add(buildRows.collection(collection))
  }

  /** Returns a stored value, without those of this batch. */
  getStored(key: string): any {
    const text = this.#db.getSync(key)
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** Returns the used quota after the rows of this batch. */
  readUsage(): QuotaUsage | undefined {
    const row = this.rows.findLast(({ key }) => key === USAGE_KEY)
    const text = row?.type === 'put' ? row.value : this.#db.getSync(USAGE_KEY)
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** Returns the revision of a record after the rows of this batch; 0 if there is none. */
  getRecordRevision(kind: RecordKind, key: string): number {
    const rowKey = getRecordKeys(kind, this.keys).record(kind, key)
    const row = this.rows.findLast((one) => one.key === rowKey)
    if (row?.type === 'del') return 0
    return (row ? JSON.parse(row.value) : this.getStored(rowKey))?.revision ?? 0
  }

  /** Adds the rows of an applied change. Returns true. */
  add(rows: readonly LevelRow[]): true {
    for (const row of rows) this.rows.push(row)
    return true
  }

  setRevision(id: string, revision: number | undefined): void {
    this.#revisions.set(id, revision)
  }

  /**
   * Deletes a collection, also from the trash, with its numbers, its histories of every source and its records: the
   * stored ones and those that this batch adds.
   */
  async deleteCollection(id: string): Promise<void> {
    this.setRevision(id, undefined)
    if (this.getTrashedRevision(id) !== undefined) this.setTrashed(id, undefined)
    this.add(buildRows.collectionDeletion(id, this.#sources))
    for (const { history } of getAllKeys(this.#sources)) await this.#deleteRange(history(id))
    for (const kind of COLLECTION_KINDS) await this.#deleteRange(ROOT_KEYS.records(kind, { prefix: `${id}/` }))
  }

  async #deleteRange({ gt, lt }: StatsKeyRange): Promise<void> {
    const added = this.rows.filter(({ type, key }) => type === 'put' && key > gt && key < lt)
    this.add(added.map(({ key }) => ({ type: 'del', key })))
    // Read one by one, so that other work runs between.
    for await (const key of this.#db.keys({ gt, lt })) this.rows.push({ type: 'del', key })
  }
}
