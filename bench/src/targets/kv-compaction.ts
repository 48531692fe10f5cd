import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runRaw } from '../load/raw.ts'
import { PINS } from '../processes.ts'

/** A base that answers so many random reads and keeps its tables has settled. */
const STABLE_READ_COUNT = 200_000
const CONNECTIONS = 64
/** Seconds between looks at the tables. */
const CHECK_INTERVAL_S = 1.5

const listTables = (folder: string) =>
  readdirSync(join(folder, 'level'))
    .filter((name) => name.endsWith('.ldb'))
    .join()

/**
 * Reads a base of 1.5 million until LevelDB merges no more tables because of it: it does so where reads look into a
 * table in vain, after some 150,000 of them, and whichever row was measured then had a p99 of 12 ms for 4.
 */
export async function waitForCompaction(url: string, folder: string): Promise<void> {
  const plan = { url, requests: { drawer: 'kv-get' }, expect: { status: 200 }, connections: CONNECTIONS }
  let tables = listTables(folder)
  for (let quiet = 0; quiet < STABLE_READ_COUNT;) {
    const result = await runRaw({ ...plan, duration: CHECK_INTERVAL_S, warmUp: 0, pin: PINS.client })
    if (result.requests === 0 || result.wrong > 0) throw new Error('the base does not answer right')
    const now = listTables(folder)
    quiet = now === tables ? quiet + result.requests : 0
    tables = now
  }
}
