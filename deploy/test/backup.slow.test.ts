import { START_SCRIPT, spawnStart, type SpawnedStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { services } from '../../services.ts'

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url))
const TOKEN = 'hunter2hunter2'
const SERVICES = ['stats', 'prices', 'sse'] as const
const WRITERS = 4

type Service = (typeof SERVICES)[number]
type Urls = Record<Service, string>

interface ScriptResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `pnpm backup` or `pnpm restore` in parallel with this thread. */
async function run(script: 'backup' | 'restore', ...args: string[]): Promise<ScriptResult> {
  const env = { ...process.env, API_TOKEN: TOKEN }
  const ran = promisify(execFile)(process.execPath, [`${SCRIPTS}${script}.ts`, ...args], { env })
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

/** The checksums of backups in the output of a command, by service. */
const sumsIn = (text: string) =>
  Object.fromEntries(Array.from(text.matchAll(/^(\w+): .* sha256 (\w{64})/gm), ([, name, sum]) => [name, sum]))

/** Runs `pnpm backup DIR --keep 2`. Returns the folders of the backups. */
async function runKeepTwo(folder: string, ports: readonly string[]): Promise<string[]> {
  const ran = await run('backup', folder, ...SERVICES, '--keep', '2', ...ports)
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  return readdirSync(folder).toSorted()
}

async function start(data: string): Promise<{ started: SpawnedStart; urls: Urls; ports: string[] }> {
  const args = ['--port', '0', '--data', data, '--log-level', 'warn', '--sample', 'no', '--sse.history', 'level']
  const started = spawnStart([...SERVICES, ...args], { API_TOKEN: TOKEN }, { script: START_SCRIPT })
  const rows = await started.waitUntilReady()
  const urls = Object.fromEntries(SERVICES.map((name) => [name, rows[name]!.url])) as Urls
  return { started, urls, ports: SERVICES.flatMap((name) => [`--${name}.port`, String(rows[name]!.port)]) }
}

async function send(url: string, method = 'GET', body?: unknown, type = 'application/json'): Promise<any> {
  const headers = { authorization: `Bearer ${TOKEN}`, ...(body !== undefined && { 'content-type': type }) }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const reply = await fetch(url, { method, headers, ...(body !== undefined && { body: text }) })
  const answer = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${url}: ${reply.status} ${answer}`)
  return answer.startsWith('{') ? JSON.parse(answer) : answer
}

const uuid = (writer: number, half: number) =>
  `00000000-0000-4000-8000-00000000${half}${String(writer).padStart(3, '0')}`
const priceLine = (writer: number, half: number, value: number) =>
  JSON.stringify({ id: uuid(writer, half), offeringId: 'o', groupId: 'g', priceSpecId: 's', charValues: [], value })

/** Writes a number to two keys atomically, and reads both. */
const subjects: Record<
  Service,
  Record<'write' | 'read', (url: string, writer: number, number: number) => Promise<any>>
> = {
  stats: {
    write: (url, writer, number) =>
      send(`${url}/collections/w${writer}`, 'PUT', {
        videos: ['-4lB5EKS5Uk'],
        name: String(number),
        tags: [String(number)],
      }),
    async read(url, writer) {
      const { name, tags } = await send(`${url}/collections/w${writer}`)
      return [Number(name), Number(tags[0])]
    },
  },
  prices: {
    write: (url, writer, number) =>
      send(
        `${url}/prices/import`,
        'POST',
        `${priceLine(writer, 1, number)}\n${priceLine(writer, 2, number)}\n`,
        'application/x-ndjson',
      ),
    read: (url, writer) =>
      Promise.all([1, 2].map(async (half) => (await send(`${url}/prices/${uuid(writer, half)}`)).value as number)),
  },
  sse: {
    write: (url, writer, number) =>
      send(
        `${url}/values`,
        'POST',
        ['a', 'z'].map((side) => ({ topic: `${side}/${writer}`, value: String(number) })),
      ),
    read: (url, writer) =>
      Promise.all(['a', 'z'].map(async (side) => Number(await send(`${url}/value?topic=${side}/${writer}`)))),
  },
}

/** Writes until it is stopped. @returns acknowledged writes, by service and writer */
function startWriters(urls: Urls) {
  const acknowledged = new Map<string, number>()
  let isWriting = true
  const writing = SERVICES.flatMap((service) =>
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let number = 1; isWriting; number++) {
        // Only one import may run at a time.
        const done = await subjects[service].write(urls[service], writer, number).then(
          () => true,
          (error) => (service === 'prices' && /IMPORT_RUNNING/.test(error.message) ? false : Promise.reject(error)),
        )
        if (done) acknowledged.set(`${service} ${writer}`, number)
        else number--
      }
    }),
  )
  return {
    acknowledged,
    async stop() {
      isWriting = false
      await Promise.all(writing)
    },
  }
}

test('stats, prices and sse are backed up under writers, each as it was at one moment, and are the same elsewhere', async () => {
  const folder = createTemporaryFolder()
  const [files, here, there] = ['files', 'here', 'there'].map((name) => join(folder, name)) as [string, string, string]
  const first = await start(here)
  const writers = startWriters(first.urls)
  await waitUntil(() => writers.acknowledged.size === SERVICES.length * WRITERS)
  const before = new Map(writers.acknowledged)
  const backup = await run('backup', files, ...SERVICES, ...first.ports)
  await writers.stop()
  expect(backup).toMatchObject({ code: 0, stderr: '' })
  const paths = SERVICES.map((service) => join(files, `${service}.backup`))
  for (const path of paths) expect(statSync(path).mode & 0o777).toBe(0o600)
  const verified = await run('backup', 'verify', ...paths)
  expect(verified).toMatchObject({ code: 0, stderr: '' })
  for (const sum of Object.values(sumsIn(backup.stdout))) expect(verified.stdout).toContain(sum)
  // The third backup replaces the first. A failed one deletes nothing.
  const dated = join(folder, 'dated')
  const [oldest] = await runKeepTwo(dated, first.ports)
  await runKeepTwo(dated, first.ports)
  const kept = await runKeepTwo(dated, first.ports)
  expect(kept).toHaveLength(2)
  expect(kept).not.toContain(oldest)
  expect(await run('backup', dated, 'kv', '--keep', '1', '--kv.port', '9')).toMatchObject({ code: 1 })
  expect(readdirSync(dated)).toEqual(expect.arrayContaining(kept))
  // Restore refuses while the service runs, and the service continues.
  expect(await run('restore', files, '--data', here)).toMatchObject({ code: 1, stderr: expect.stringContaining(here) })
  for (const service of SERVICES) await subjects[service].write(first.urls[service], 0, 1)
  expect((await first.started.stop()).code).toBe(0)

  const restored = await run('restore', files, '--data', there)
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  const sums = sumsIn(backup.stdout)
  expect(Object.keys(sums).toSorted()).toEqual(SERVICES.toSorted())
  expect(sumsIn(restored.stdout)).toEqual(sums)
  const second = await start(there)
  for (const service of SERVICES) {
    for (let writer = 0; writer < WRITERS; writer++) {
      const [one, other] = await subjects[service].read(second.urls[service], writer, 0)
      expect([service, one]).toEqual([service, other])
      expect(one).toBeGreaterThanOrEqual(before.get(`${service} ${writer}`)!)
      expect(one).toBeLessThanOrEqual(writers.acknowledged.get(`${service} ${writer}`)! + 1)
      // Restored data accepts changes as before.
      await subjects[service].write(second.urls[service], writer, one + 100)
      expect(await subjects[service].read(second.urls[service], writer, 0)).toEqual([one + 100, one + 100])
    }
  }
  expect((await second.started.stop()).code).toBe(0)

  // Restore names a damaged file, and restores nothing from it.
  for (const [i, service] of SERVICES.entries()) {
    const file = join(files, `${service}.backup`)
    const bytes = readFileSync(file)
    if (i === 0) truncateSync(file, bytes.length - 10)
    else {
      bytes[Math.floor((bytes.length * i) / 3)]! ^= 0x10
      writeFileSync(file, bytes)
    }
    expect(await run('backup', 'verify', file)).toMatchObject({ code: 1, stderr: expect.stringContaining(file) })
    const data = join(folder, `damaged ${service}`)
    expect(await run('restore', files, service, '--data', data)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(file),
    })
    expect(existsSync(data)).toBe(false)
  }
})

test('a backup is not restored into the folder of a node, and the reason names the command that restores it', async () => {
  const definitions = await Promise.all(Object.values(services).map((load) => load()))
  const clusterServices = definitions.filter(({ settings }) => 'cluster' in settings)
  expect(clusterServices.map(({ name }) => name)).toEqual(expect.arrayContaining(['kv', 'sse', 'stats']))
  for (const { name, getNoRestoreReason } of clusterServices) {
    expect(getNoRestoreReason?.({ cluster: ['nats://a:4222'] } as never)).toContain(
      `\`pnpm cluster rescue ${name} --from FILE.backup\``,
    )
    expect(getNoRestoreReason?.({ cluster: [] } as never)).toBeUndefined()
  }
})
