import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { openPricesLevel } from '../../src/database.ts'

/** One write as LevelDB got it. */
interface RecordedWrite {
  readonly apply: (db: any) => Promise<unknown>
  /** Whether it was waited for until it was on disk. */
  readonly synced: boolean
}

/** What reached a database, in order, and what of it a power cut may take. */
export interface WriteRecording {
  readonly level: SharedLevel
  /** How many writes there were so far. */
  readonly length: number
  /**
   * The database as a power cut after so many writes may leave it: what was synced is there. Of the rest all may be there,
   * none, or any part, because LevelDB's log goes on in another file every 4 MB, and syncing one says nothing of the others.
   * @param isPresent whether a write that was not synced is there
   */
  cut(folder: string, after: number, isPresent: (write: number) => boolean): Promise<void>
}

const WRITE_METHODS = new Set(['put', 'del', 'batch', 'clear'])

/** Opens a database and records what is written to it. */
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
