import {
  COLLECTION_KINDS,
  getCollectionIds,
  isInRange,
  type RecordChange,
  type RecordKind,
  type RecordRange,
  type StatsRecord,
} from '../../core/record-kinds.ts'
import { ConflictError, type StateReader, type StatsState } from '../stats-state.ts'

/** Records of a state in memory, searched from the first. There are few of them. */
export interface MemoryRecords extends Pick<StateReader, 'getRecords' | 'listRecords'>, Pick<StatsState, 'putRecords'> {
  /** Deletes the records of a collection, and the collection if it is in the trash. */
  deleteCollection(id: string): void
}

/** @param hasCollection true if a collection exists */
export function createMemoryRecords(hasCollection: (id: string) => boolean): MemoryRecords {
  const kinds = new Map<RecordKind, Map<string, object>>()

  function write({ kind, key, value }: RecordChange): void {
    if (!kinds.has(kind)) kinds.set(kind, new Map())
    if (value === undefined) kinds.get(kind)!.delete(key)
    else kinds.get(kind)!.set(key, value)
  }

  function list(kind: RecordKind, { limit, ...range }: RecordRange): StatsRecord<any>[] {
    const keys = [...(kinds.get(kind)?.keys() ?? [])].filter((key) => isInRange(key, range)).sort()
    return keys.slice(0, limit).map((key) => ({ kind, key, value: kinds.get(kind)!.get(key) }))
  }

  return {
    getRecords: (kind, keys) => keys.map((key) => kinds.get(kind)?.get(key) as any),
    listRecords: list,
    putRecords(changes) {
      if (!getCollectionIds(changes).every(hasCollection)) throw new ConflictError()
      changes.forEach(write)
    },
    deleteCollection(id) {
      write({ kind: 'trash', key: id })
      for (const kind of COLLECTION_KINDS)
        for (const { key } of list(kind, { prefix: `${id}/`, limit: Infinity })) write({ kind, key })
    },
  }
}
