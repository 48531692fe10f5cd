import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runRaw } from '../load/raw.ts'
import { PINS } from '../processes.ts'

/** A base that answers so many random reads and keeps its tables has settled. */
const ENOUGH = 200_000
const CONNECTIONS = 64
/** Seconds between looks at the tables. */
const LOOK_EVERY = 1.5

const tablesOf = (folder: string) =>
  readdirSync(join(folder, 'level'))
    .filter((name) => name.endsWith('.ldb'))
    .join()

/**
 * Reads a base of 1.5 million until LevelDB merges no more tables because of it: it does so where reads look into a
 * table in vain, after some 150,000 of them, and whichever row was measured then had a p99 of 12 ms for 4.
 */
export async function settle(url: string, folder: string): Promise<void> {
  const plan = { url, requests: { drawer: 'kv-get' }, expect: { status: 200 }, connections: CONNECTIONS }
  let tables = tablesOf(folder)
  for (let quiet = 0; quiet < ENOUGH;) {
    const result = await runRaw({ ...plan, duration: LOOK_EVERY, warmUp: 0, pin: PINS.client })
    if (result.requests === 0 || result.wrong > 0) throw new Error('the base does not answer right')
    const now = tablesOf(folder)
    quiet = now === tables ? quiet + result.requests : 0
    tables = now
  }
}
