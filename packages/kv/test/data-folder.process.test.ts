import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { createKvClient } from '../src/client.ts'
import { startKv } from './support/kv.ts'
import { openTestLevel } from './support/level.ts'
import { spawnKv } from './support/process.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

it('a second process on the same folder waits for it, then refuses to start with one line', async () => {
  const data = createTemporaryFolder()
  const first = await startKv({ data })
  const { code, stderr } = await spawnKv(data, { settings: ['--shutdown-timeout', '5000'] }).ended
  expect(code).toBe(1)
  const [waits, refuses, ...others] = stderr.trim().split('\n')
  expect(waits).toContain('waiting')
  expect(refuses).toContain(data)
  expect(others).toEqual([])
  await first.stop()
})

it('refuses writes on a full disk, serves reads, and retains acknowledged writes', async () => {
  const data = createTemporaryFolder()
  // 4 MiB per file.
  const service = spawnKv(data, { fileBlocks: 4_096 })
  const client = createKvClient(await service.url)
  const value = Buffer.alloc(100_000, 'x')
  let acknowledged = 0
  const full = (async () => {
    for (;;) {
      await client.put(`k${acknowledged}`, value)
      acknowledged++
    }
  })()
  await expect(full).rejects.toMatchObject({ code: 'DISK_FULL', status: 507 })
  expect(acknowledged).toBeGreaterThan(10)
  // This write would fit, but no write may follow a partial record.
  await expect(client.put('small', 'x')).rejects.toBeInstanceOf(ServiceError)
  expect((await client.get('k0'))!.value.equals(value)).toBe(true)
  await client.close()
  await service.stop()

  const again = await startKv({ data })
  for (let i = 0; i < acknowledged; i++) expect((await again.client.get(`k${i}`))?.value.equals(value)).toBe(true)
  await again.client.put('small', 'x')
  await again.stop()
})

it('opens or refuses a damaged log, and never returns a wrong value', async () => {
  const createValue = (i: number) => `value ${i} `.repeat(20)
  async function* createDamages() {
    yield (file: string, size: number) => truncateSync(file, size - 1)
    yield (file: string, size: number) => truncateSync(file, size - 5_000)
    yield (file: string) => appendFileSync(file, Buffer.alloc(100, 0xab))
    for (const back of [1, 10, 300, 5_000])
      yield (file: string, size: number) => {
        const bytes = readFileSync(file)
        bytes[size - back]! ^= 0x40
        writeFileSync(file, bytes)
      }
  }
  for await (const damage of createDamages()) {
    const folder = createTemporaryFolder()
    const level = await openTestLevel(folder)
    for (let i = 0; i < 200; i++) await level.db.put(Buffer.from(`k${i}`), Buffer.from(createValue(i)))
    await level.close()
    const log = readdirSync(join(folder, 'level')).find((name) => name.endsWith('.log'))!
    const file = join(folder, 'level', log)
    damage(file, readFileSync(file).length)
    const found = await openTestLevel(folder).catch((error) => {
      expect(error).toMatchObject({ code: 'DATA_DAMAGED' })
      return undefined
    })
    if (!found) continue
    const values = await found.db.iterator().all()
    for (const [key, value] of values) expect(value.toString()).toBe(createValue(Number(key.toString().slice(1))))
    expect(values).toHaveLength(200)
    await found.close()
  }
})
