import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { openPricesLevel } from '../../src/database.ts'

/** One write as LevelDB got it. */
interface Written {
  readonly apply: (db: any) => Promise<unknown>
  /** Whether it was waited for until it was on disk. */
  readonly synced: boolean
}

/** What reached a database, in order, and what of it a power cut may take. */
export interface Recording {
  readonly level: SharedLevel
  /** How many writes there were so far. */
  readonly length: number
  /**
   * The database as a power cut after so many writes may leave it: what was synced is there. Of the rest all may be there,
   * none, or any part, because LevelDB's log goes on in another file every 4 MB, and syncing one says nothing of the others.
   * @param keeps whether a write that was not synced is there
   */
  cut(folder: string, after: number, keeps: (write: number) => boolean): Promise<void>
}

const CHANGES = new Set(['put', 'del', 'batch', 'clear'])

/** Opens a database and records what is written to it. */
export async function record(folder: string): Promise<Recording> {
  const writes: Written[] = []
  const real = await openPricesLevel(folder)
  const recorded = (db: any): any =>
    new Proxy(db, {
      get(target, name) {
        const value = target[name]
        if (typeof value !== 'function') return value
        if (!CHANGES.has(String(name))) return value.bind(target)
        return async (...given: any[]) => {
          const synced = given.some((one) => one?.sync === true)
          await value.apply(target, given)
          writes.push({ apply: (other) => other[name](...given), synced })
        }
      },
    })
  const level = new Proxy(real, {
    get(target: any, name) {
      if (name === 'db') return recorded(target.db)
      if (name === 'write') return (run: any) => target.write((db: any) => run(recorded(db)))
      const value = target[name]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    level,
    get length() {
      return writes.length
    },
    async cut(into, after, keeps) {
      const left = await openPricesLevel(into)
      for (let i = 0; i < after; i++) {
        const { apply, synced } = writes[i]!
        if (synced || keeps(i)) await apply(left.db)
      }
      await left.close()
    },
  }
}
