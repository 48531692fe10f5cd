import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { openPricesLevel } from '../../src/storage/database.ts'

/** One write to LevelDB. */
interface RecordedWrite {
  readonly apply: (db: any) => Promise<unknown>
  /** True if the write was synced to disk. */
  readonly synced: boolean
}

/** The writes to a database in order, and the ones that a power cut may lose. */
export interface WriteRecording {
  readonly level: SharedLevel
  /** Number of writes. */
  readonly length: number
  /**
   * Returns the database in a state that a power cut after this number of writes can leave. Synced writes exist. Of the
   * other writes all, none or any part may exist: LevelDB's log continues in a new file every 4 MB, and a sync of one
   * does not cover the others.
   * @param isPresent true if an unsynced write exists
   */
  cut(folder: string, after: number, isPresent: (write: number) => boolean): Promise<void>
}

const WRITE_METHODS = new Set(['put', 'del', 'batch', 'clear'])

/** Opens a database and records its writes. */
export async function recordWrites(folder: string): Promise<WriteRecording> {
  const writes: RecordedWrite[] = []
  const real = await openPricesLevel(folder)
  const wrap = (db: any): any =>
    new Proxy(db, {
      get(target, name) {
        const value = target[name]
        if (typeof value !== 'function') return value
        if (!WRITE_METHODS.has(String(name))) return value.bind(target)
        return async (...given: any[]) => {
          const synced = given.some((one) => one?.sync === true)
          await value.apply(target, given)
          writes.push({ apply: (other) => other[name](...given), synced })
        }
      },
    })
  const level = new Proxy(real, {
    get(target: any, name) {
      if (name === 'db') return wrap(target.db)
      if (name === 'write') return (run: any) => target.write((db: any) => run(wrap(db)))
      const value = target[name]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    level,
    get length() {
      return writes.length
    },
    async cut(into, after, isPresent) {
      const level = await openPricesLevel(into)
      for (let i = 0; i < after; i++) {
        const { apply, synced } = writes[i]!
        if (synced || isPresent(i)) await apply(level.db)
      }
      await level.close()
    },
  }
}
