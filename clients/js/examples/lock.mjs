// Runs a task on one machine at a time, with a lock in kv: node lock.mjs [name]
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { createKvClient, ServiceError } from '@influencer-stats/client/kv'

const { KV_URL = 'http://localhost:8082', API_TOKEN: token } = process.env
const [name = 'nightly-report'] = process.argv.slice(2)
const LEASE_S = 10
const kv = createKvClient(KV_URL, { token })
const key = `locks/${name}`

/** Resolves with the ETag of the lock; undefined if another process has it. */
async function acquire() {
  try {
    // The value expires, so that a process that was killed does not hold the lock forever.
    return await kv.put(key, randomUUID(), { ifNoneMatch: '*', ttl: LEASE_S })
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'CONDITION_FAILED') return undefined
    throw error
  }
}

let etag = await acquire()
while (etag === undefined) {
  process.stdout.write('waiting\n')
  await pause(250)
  etag = await acquire()
}
process.stdout.write('acquired\n')
await pause(500) // The task. A longer one renews the lock: `kv.expire(key, LEASE_S, { ifMatch: etag })`.
// Only the lock of this process: after its expiry another process may have a new one.
await kv.delete(key, { ifMatch: etag })
process.stdout.write('released\n')
