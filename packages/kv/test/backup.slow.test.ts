import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { formatRequest, openUnreadClient } from '@influencer-stats/runtime/testing/raw-client'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { createKvClient, type KvClient } from '../src/client.ts'
import { startKv } from './support/kv.ts'

const WRITER_COUNT = 32
const TOKEN = 'hunter2'
const SCRIPTS = fileURLToPath(new URL('../../../scripts/', import.meta.url))

const parseSha256 = (text: string) => /sha256 (\w{64})/.exec(text)?.[1]

const readAll = (client: KvClient) =>
  Array.fromAsync(client.entries(), ({ id, value }) => [id, value.toString()] as const)

/** Runs `pnpm backup` or `pnpm restore`. */
function run(script: 'backup' | 'restore', ...args: string[]) {
  const env = { ...process.env, API_TOKEN: TOKEN }
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${SCRIPTS}${script}.ts`, ...args], {
    encoding: 'utf8',
    env,
  })
  return { status, stdout, stderr, sha256: parseSha256(stdout) }
}

async function start(data: string, threads: number) {
  const args = ['kv', '--port', '0', '--data', data, '--threads', String(threads), '--log-level', 'warn']
  const started = spawnStart(args, { API_TOKEN: TOKEN }, { script: START_SCRIPT })
  const { url, port } = (await started.waitUntilReady()).kv!
  return { started, port: String(port), client: createKvClient(url, { token: TOKEN }) }
}

it('a backup under 32 writers has the state of one moment, and a restored copy has the same', async () => {
  const folder = createTemporaryFolder()
  const [files, here, there] = ['files', 'here', 'there'].map((name) => join(folder, name)) as [string, string, string]
  const first = await start(here, 2)
  const acknowledged = new Map<number, number>()
  let isWriting = true
  // Each writer writes its next number to two keys at once.
  const writers = Array.from({ length: WRITER_COUNT }, async (_, writer) => {
    for (let number = 1; isWriting; number++) {
      const value = String(number)
      await first.client.batch([
        { op: 'put', id: `a/${writer}`, value },
        { op: 'put', id: `z/${writer}`, value },
        { op: 'put', id: `n/${writer}/${number % 50}`, value: 'x'.repeat(500) },
      ])
      acknowledged.set(writer, number)
    }
  })
  while (acknowledged.size < WRITER_COUNT) await Promise.race(writers.map(async () => first.client.get('a/0')))
  const before = new Map(acknowledged)
  // The backup runs in a separate process, because this thread has to serve the writers.
  const backup = await promisify(execFile)(
    process.execPath,
    [`${SCRIPTS}backup.ts`, files, 'kv', '--kv.port', first.port],
    { env: { ...process.env, API_TOKEN: TOKEN } },
  )
  expect(backup.stderr).toBe('')
  isWriting = false
  await Promise.all(writers)
  const unchanged = join(folder, 'quiet')
  expect(run('backup', unchanged, 'kv', '--kv.port', first.port)).toMatchObject({ status: 0, stderr: '' })
  const all = await readAll(first.client)
  expect(all.length).toBe(WRITER_COUNT * 2 + new Set(all.filter(([id]) => id.startsWith('n/')).map(([id]) => id)).size)
  await first.client.close()
  expect((await first.started.stop()).code).toBe(0)

  expect(run('restore', files, '--data', there)).toMatchObject({ status: 0, sha256: parseSha256(backup.stdout) })
  const second = await start(there, 1)
  for (let writer = 0; writer < WRITER_COUNT; writer++) {
    const [a, z] = await Promise.all(['a', 'z'].map(async (key) => second.client.get(`${key}/${writer}`)))
    expect(a!.value.toString()).toBe(z!.value.toString())
    const number = Number(a!.value)
    expect(number).toBeGreaterThanOrEqual(before.get(writer)!)
    expect(number).toBeLessThanOrEqual(acknowledged.get(writer)! + 1)
  }
  await second.client.close()
  expect((await second.started.stop()).code).toBe(0)

  const copy = join(folder, 'copy')
  expect(run('restore', unchanged, '--data', copy).status).toBe(0)
  const third = await start(copy, 1)
  expect(await readAll(third.client)).toEqual(all)
  await third.client.close()
  expect((await third.started.stop()).code).toBe(0)

  // A restore never replaces existing data, and writes nothing from a damaged backup.
  expect(run('restore', files, '--data', there)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/is not empty/),
  })
  const cluster = join(folder, 'cluster')
  expect(run('restore', files, '--data', cluster, '--log', 'jetstream')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('pnpm kv import'),
  })
  expect(existsSync(join(cluster, 'kv'))).toBe(false)
  const file = join(files, 'kv.backup')
  const bytes = readFileSync(file)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(file, bytes)
  const damagedBackup = join(folder, 'elsewhere')
  expect(run('restore', files, '--data', damagedBackup)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(file),
  })
  expect(existsSync(join(damagedBackup, 'kv'))).toBe(false)
})

it('a backup is refused without the token, or if the service does not run', async () => {
  const { started, port, client } = await start(createTemporaryFolder(), 0)
  expect((await fetch(`http://127.0.0.1:${port}/backup`)).status).toBe(401)
  await client.close()
  expect((await started.stop()).code).toBe(0)
  const folder = createTemporaryFolder()
  expect(run('backup', folder, 'kv', '--kv.port', port)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^kv: /),
  })
  expect(existsSync(join(folder, 'kv.backup'))).toBe(false)
})

it('two backups run at a time; a disconnected client frees its slot', async () => {
  const kv = await startKv()
  onTestFinished(async () => void (await kv.stop()))
  // More than the buffers of a connection.
  for (let i = 0; i < 30; i++) await kv.client.put(`k${i}`, randomBytes(1_048_576))
  const requestBackup = async () => {
    const reply = await fetch(`${kv.url}/backup`)
    const { code } = reply.ok ? {} : ((await reply.json()) as { code?: string })
    await reply.body?.cancel().catch(() => {})
    return { status: reply.status, code, retryAfter: reply.headers.get('retry-after') }
  }
  const [one] = await Promise.all([1, 2].map(() => openUnreadClient(kv.url, formatRequest('GET', '/backup'))))
  const refusal = { status: 503, code: 'TOO_MANY_BACKUPS', retryAfter: '60' }
  await waitUntil(async () => (await requestBackup()).status === 503)
  expect(await requestBackup()).toEqual(refusal)
  one!.socket.destroy()
  await waitUntil(async () => (await requestBackup()).status === 200)
})
