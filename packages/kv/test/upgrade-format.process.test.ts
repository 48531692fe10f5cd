import { readFormatFile } from '@influencer-stats/runtime/testing/read-format'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLevel } from '@influencer-stats/runtime/level'
import { describe, expect, it } from 'vitest'
import { getEtag, getValue } from '../src/core/stored-value.ts'
import type { KvDatabase } from '../src/store/commit.ts'
import { STATE_KEY } from '../src/revisions.ts'
import { upgradeFromFirstFormat } from '../src/store/upgrade-format.ts'
import { openTestLevel } from './support/level.ts'
import { startKv } from './support/kv.ts'
import { OLD_ENTRIES, copyOldDatabase } from './support/old-database.ts'

/** Reads all values of a database, and their tags. */
async function readContents(folder: string): Promise<{ values: Map<string, Buffer>; tags: Set<string> }> {
  const level = await openTestLevel(folder)
  const values = new Map<string, Buffer>()
  const tags = new Set<string>()
  for await (const [key, stored] of level.db.iterator({ gt: STATE_KEY })) {
    values.set(key.toString(), Buffer.from(getValue(stored)))
    tags.add(getEtag(stored))
  }
  await level.close()
  return { values, tags }
}

/**
 * Upgrades in batches of 50. The batch with the number `failing` (from 1) is not written; after the last one the
 * upgrade is killed.
 * @returns true if it failed, and the sync option of each write
 */
async function upgradeUntil(folder: string, failing: number): Promise<{ failed: boolean; synced: unknown[] }> {
  const synced: unknown[] = []
  async function upgrade(db: KvDatabase): Promise<void> {
    const batch = () => {
      const real = db.batch()
      const write = (options: { sync: boolean }) => {
        if (synced.push(options.sync) === failing) throw new Error('killed')
        return real.write(options)
      }
      const fake = { put: (key: Buffer, value: Buffer) => void real.put(key, value), write }
      return fake
    }
    const put = async (...args: Parameters<KvDatabase['put']>) => {
      await db.put(...args)
      if (synced.push(true) === failing) throw new Error('killed')
    }
    const cut = { get: (key: Buffer) => db.get(key), iterator: (options: object) => db.iterator(options), batch, put }
    await upgradeFromFirstFormat(cut as never, 50)
  }
  const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
  const opening = openLevel<Buffer, Buffer>(folder, {
    service: 'kv',
    format: 2,
    upgrades: { 1: upgrade },
    ...encodings,
  })
  const failed = await opening.then(
    (db) => db.close().then(() => false),
    (error) => {
      expect(error).toMatchObject({ code: 'DATA_UPGRADE_FAILED' })
      return true
    },
  )
  return { failed, synced }
}

describe('a folder of format 1', () => {
  it('has all its values in format 2, under one tag', async () => {
    const folder = copyOldDatabase()
    for (let start = 0; start < 2; start++) {
      const { values, tags } = await readContents(folder)
      expect(values).toEqual(new Map([...OLD_ENTRIES].toSorted(([a], [b]) => Buffer.from(a).compare(Buffer.from(b)))))
      expect(tags.size).toBe(1)
      expect(readFormatFile(folder)).toEqual({ service: 'kv', format: 3 })
    }
  })

  it('is served, and new writes get new tags', async () => {
    const kv = await startKv({ data: copyOldDatabase() })
    const found = new Map<string, Buffer>()
    for await (const { id, value } of kv.client.entries()) found.set(id, value)
    expect(found).toEqual(OLD_ENTRIES)
    const { etag, value } = (await kv.client.get('k1'))!
    expect(value).toEqual(OLD_ENTRIES.get('k1'))
    const next = await kv.client.put('k1', value, { ifMatch: etag })
    expect(next).not.toBe(etag)
    await expect(kv.client.put('k1', 'x', { ifMatch: etag })).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
    expect((await kv.client.get('k2'))!.etag).toBe(etag)
    await kv.stop()
  })

  it('is upgraded once if a power cut loses only the new format number', async () => {
    const folder = copyOldDatabase()
    await readContents(folder)
    writeFileSync(join(folder, 'format.json'), JSON.stringify({ service: 'kv', format: 2, from: 1 }))
    const { values, tags } = await readContents(folder)
    expect(values.get('k1')).toEqual(OLD_ENTRIES.get('k1'))
    expect(tags.size).toBe(1)
  })

  it('is upgraded once, after an interruption at any point', async () => {
    let cuts = 0
    for (let failing = 1; ; failing++) {
      const folder = copyOldDatabase()
      const { failed, synced } = await upgradeUntil(folder, failing)
      // A power cut loses the end of the writes. Each batch is synced, so the batches before it survive.
      expect(synced.every(Boolean)).toBe(true)
      if (failed) {
        cuts++
        expect(readFormatFile(folder)).toEqual({ service: 'kv', format: 2, from: 1 })
        // A second, later interruption.
        await upgradeUntil(folder, 2)
      }
      const { values, tags } = await readContents(folder)
      expect(values.size).toBe(OLD_ENTRIES.size)
      for (const [key, value] of OLD_ENTRIES) expect([key, values.get(key)]).toEqual([key, value])
      expect(tags.size).toBe(1)
      if (!failed) break
    }
    expect(cuts).toBeGreaterThan(5)
  })
})
