import { readWitness } from '@influencer-stats/runtime/testing/witness'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createKvClient } from '../src/client.ts'
import { startKv } from './support/kv.ts'
import { runCli, spawnKv } from './support/process.ts'

const MANY = 300
const valueOf = (i: number) => `value ${i} `.repeat(20)

/** Creates the folder of a process killed with `kill -9` after writes, half of them durable. */
async function killUnderWrites(): Promise<string> {
  const killed = join(temporaryFolder(), 'kv')
  const service = spawnKv(killed)
  const client = createKvClient(await service.url)
  for (let i = 0; i < MANY; i++) await client.put(`k${i}`, valueOf(i), { durable: i % 2 === 0 })
  await client.close()
  const [log] = logsIn(killed)
  await until(() => readWitness(killed)?.logs[log!] === statSync(join(killed, 'level', log!)).size)
  await service.crash()
  return killed
}
let folder: Promise<string> | undefined
/** Folder shared by all tests, each of which uses a copy. */
const killedFolder = () => (folder ??= killUnderWrites())

const logsIn = (folder: string) => readdirSync(join(folder, 'level')).filter((name) => name.endsWith('.log'))

function copyOf(folder: string): string {
  const copy = join(temporaryFolder(), 'kv')
  cpSync(folder, copy, { recursive: true })
  return copy
}

async function countRight(folder: string): Promise<number> {
  const kv = await startKv({ data: folder })
  let count = 0
  for (let i = 0; i < MANY; i++) {
    const value = (await kv.client.get(`k${i}`))?.value.toString()
    if (value === undefined) continue
    expect(value).toBe(valueOf(i))
    count++
  }
  await kv.stop()
  return count
}

it('all that was acknowledged is there after a kill', async () => {
  expect(await countRight(copyOf(await killedFolder()))).toBe(MANY)
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
])('where %s the start is refused in one line, and a repair salvages the rest', async (_, damage) => {
  const folder = copyOf(await killedFolder())
  const level = join(folder, 'level')
  const [log] = logsIn(folder)
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
  const found = await countRight(folder)
  if (log && files.includes('CURRENT')) expect(found).toBeGreaterThan(MANY / 3)
  else expect(found).toBe(MANY)
})

it('check and repair without a folder are wrong usage', async () => {
  for (const command of ['check', 'repair']) {
    expect((await runCli(command)).code).toBe(2)
    expect((await runCli(command, join(temporaryFolder(), 'missing'))).code).toBe(2)
  }
})

it('a process that is killed on a full disk, with half a record in its log, starts with all that it acknowledged', async () => {
  const data = temporaryFolder()
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
  await until(() => readWitness(data)?.failedLogs.length)
  await client.close()
  await service.crash()

  const again = await startKv({ data })
  for (const i of acknowledged)
    expect((await again.client.get(`k${i}`))?.value.equals(Buffer.alloc(50_000, i % 251))).toBe(true)
  await again.stop()
})
