import { SERVERS } from '@influencer-stats/runtime/settings'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toRevision, toStored } from '../src/core/stored-value.ts'
import { openUsedTestLevel } from './support/level.ts'
import { damageTables } from '@influencer-stats/runtime/testing/damage-tables'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { entity, startKv } from './support/kv.ts'

describe.each(SERVERS)('a damaged store with server %s', (server) => {
  it('fails for damaged entries with a code, and continues to serve the others', async () => {
    const data = createTemporaryFolder()
    const level = await openUsedTestLevel(data)
    const { db } = level
    const keys = Array.from({ length: 500 }, (_, i) => `k${1_000 + i}`)
    for (const key of keys) await db.put(Buffer.from(key), toStored(toRevision(1), Buffer.from(key.repeat(100))))
    await db.compactRange(Buffer.from('a'), Buffer.from('z'))
    await level.close()
    const kv = await startKv({ server, data })
    onTestFinished(async () => void (await kv.stop()))
    damageTables(join(data, 'level'))
    expect((await kv.request('GET', '/readyz')).status).toBe(200)
    const seen = new Set<number>()
    for (const key of keys) {
      const { status, text, code } = await kv.request('GET', entity(key))
      seen.add(status)
      if (status === 200) expect(text).toBe(key.repeat(100))
      else expect([status, code, text.includes('orruption')]).toEqual([500, 'DATA_DAMAGED', false])
    }
    expect([...seen].toSorted()).toEqual([200, 500])
    expect(await kv.request('GET', '/readyz')).toMatchObject({ status: 503, code: 'NOT_READY' })
    expect((await kv.request('GET', '/metrics')).text).toMatch(/^data_damaged_files 1$/m)
    expect((await kv.request('GET', '/metrics')).text).toMatch(
      /^http_request_errors_total\{code="DATA_DAMAGED"\} [1-9]/m,
    )
  })
})
