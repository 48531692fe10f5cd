import { readWitness } from '@influencer-stats/runtime/testing/read-witness'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createKvClient } from '../src/client.ts'
import { startKv } from './support/kv.ts'
import { runCli, spawnKv } from './support/process.ts'

const ENTRY_COUNT = 300
const createValue = (i: number) => `value ${i} `.repeat(20)

/** Creates the folder of a process killed with `kill -9` after writes, half of them durable. */
async function killUnderWrites(): Promise<string> {
  const killed = join(createTemporaryFolder(), 'kv')
  const service = spawnKv(killed)
  const client = createKvClient(await service.url)
  for (let i = 0; i < ENTRY_COUNT; i++) await client.put(`k${i}`, createValue(i), { durable: i % 2 === 0 })
  await client.close()
  const [log] = listLogs(killed)
  await waitUntil(() => readWitness(killed)?.logs[log!] === statSync(join(killed, 'level', log!)).size)
  await service.crash()
  return killed
}
let folder: Promise<string> | undefined
/** Folder shared by all tests, each of which uses a copy. */
const killedFolder = () => (folder ??= killUnderWrites())

const listLogs = (folder: string) => readdirSync(join(folder, 'level')).filter((name) => name.endsWith('.log'))

function copyFolder(folder: string): string {
  const copy = join(createTemporaryFolder(), 'kv')
  cpSync(folder, copy, { recursive: true })
  return copy
}

async function countCorrect(folder: string): Promise<number> {
  const kv = await startKv({ data: folder })
  let count = 0
  for (let i = 0; i < ENTRY_COUNT; i++) {
    const value = (await kv.client.get(`k${i}`))?.value.toString()
    if (value === undefined) continue
    expect(value).toBe(createValue(i))
    count++
  }
  await kv.stop()
  return count
}

it('all acknowledged writes survive a kill', async () => {
  expect(await countCorrect(copyFolder(await killedFolder()))).toBe(ENTRY_COUNT)
})

it.each<[string, (log: string, current: string) => void]>([
  ['CURRENT is missing', (_, current) => rmSync(current)],
  [
    'a bit of the log is flipped',
    (log) => {
      const bytes = readFileSync(log)
      bytes[bytes.length >> 1]! ^= 1
      writeFileSync(log, bytes)
    },
  ],
  ['the log is cut', (log) => truncateSync(log, statSync(log).size - 3)],
])('if %s, the start is refused in one line, and a repair salvages the rest', async (_, damage) => {
  const folder = copyFolder(await killedFolder())
  const level = join(folder, 'level')
  const [log] = listLogs(folder)
  damage(join(level, log!), join(level, 'CURRENT'))
  const files = readdirSync(level)

  const { code, stderr } = await spawnKv(folder).ended
  expect([code, stderr.trim().split('\n').length]).toEqual([1, 1])
  expect(stderr).toContain(folder)
  expect(readdirSync(level)).toEqual(files)

  const check = await runCli('check', folder)
  expect([check.code, check.stdout.length > 0]).toEqual([1, true])
  expect((await runCli('repair', folder)).code).toBe(0)
  expect((await runCli('check', folder)).code).toBe(0)
  // Data after damage in a log is lost up to the next 32 KiB.
  const found = await countCorrect(folder)
  if (log && files.includes('CURRENT')) expect(found).toBeGreaterThan(ENTRY_COUNT / 3)
  else expect(found).toBe(ENTRY_COUNT)
})

it('check and repair without a folder are wrong usage', async () => {
  for (const command of ['check', 'repair']) {
    expect((await runCli(command)).code).toBe(2)
    expect((await runCli(command, join(createTemporaryFolder(), 'missing'))).code).toBe(2)
  }
})

it('a process that is killed on a full disk with a partial record starts with all acknowledged writes', async () => {
  const data = createTemporaryFolder()
  // Limits each file to 4 MiB.
  const service = spawnKv(data, { fileBlocks: 4_096 })
  const client = createKvClient(await service.url)
  const acknowledged = new Set<number>()
  const write = async (i: number) => {
    await client.put(`k${i}`, Buffer.alloc(50_000, i % 251))
    acknowledged.add(i)
  }
  let next = 0
  // Several writes run concurrently: some come after the one that fails.
  const writer = async () => {
    for (;;) await write(next++)
  }
  await Promise.allSettled([writer(), writer(), writer(), writer()])
  expect(acknowledged.size).toBeGreaterThan(10)
  // Main records that a write has failed. Data after this write in its log may be damaged.
  await waitUntil(() => readWitness(data)?.failedLogs.length)
  await client.close()
  await service.crash()

  const again = await startKv({ data })
  for (const i of acknowledged)
    expect((await again.client.get(`k${i}`))?.value.equals(Buffer.alloc(50_000, i % 251))).toBe(true)
  await again.stop()
})
