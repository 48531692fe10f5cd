import type { OwnRow } from '@influencer-stats/runtime/own-row'
import { SOURCES_KEY } from './level-keys.ts'
import { NO_SOURCES, type Sources } from '../core/sources.ts'

/** Name of a source whose recorded name is lost. */
export const UNKNOWN_SOURCE = 'unknown'

/** Row with the sources of the numbers. Of the versions before format 3, only some wrote it. */
export const sourcesRow: OwnRow = {
  key: Buffer.from(SOURCES_KEY),
  since: 3,
  first: JSON.stringify(NO_SOURCES),
  async rebuild(db) {
    const names: string[] = []
    // Every position up to the highest one in a key gets a name. Later sources have no numbers and need no name.
    for (const key of await db.keys({ gte: Buffer.from('@'), lt: Buffer.from('A') }).all()) {
      const position = Number.parseInt(key.toString('latin1', 1), 10)
      while (names.length <= position) names.push(`${UNKNOWN_SOURCE} ${names.length + 1}`)
    }
    const sources: Sources = { names: names.length > 0 ? names : [UNKNOWN_SOURCE], current: 0 }
    await db.put(Buffer.from(SOURCES_KEY), Buffer.from(JSON.stringify(sources)), { sync: true })
    return [
      `the sources of the numbers: collections remain, and their numbers are stored under the source ${UNKNOWN_SOURCE}`,
    ]
  },
}
