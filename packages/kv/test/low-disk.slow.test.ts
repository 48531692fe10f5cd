import { spawnService, type ServiceProcess } from '@influencer-stats/runtime/testing/service-process'
import { mountSmallDisk } from '@influencer-stats/runtime/testing/small-disk'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const MEGABYTES = 192
const VALUE_BYTES = 256 * 1_024
const entity = (i: number) => `/v0/entity?id=k${String(i).padStart(5, '0')}`
const NDJSON = { 'content-type': 'application/x-ndjson' }

async function sendRequest(
  url: string,
  method: string,
  body?: Uint8Array | string,
  headers: Record<string, string> = {},
) {
  const reply = await fetch(url, { method, body: body as never, headers })
  const text = await reply.text()
  return { status: reply.status, code: reply.status >= 400 ? JSON.parse(text).code : undefined, text }
}

const ERROR_LEVEL = 50
/** The different errors in the log of a process. */
const listErrors = (kv: ServiceProcess) => [
  ...new Set(
    kv
      .log()
      .filter(({ level }) => level >= ERROR_LEVEL)
      .map(({ msg }) => msg),
  ),
]

it.each([
  ['one thread', { threads: 1 }],
  ['two threads, each write by itself', { threads: 2, commit: 'single' }],
])('a full disk refuses puts but not deletes, and accepts puts again after enough deletes: %s', async (_, settings) => {
  const folder = createTemporaryFolder()
  const disk = mountSmallDisk(folder, MEGABYTES)
  if (!disk) throw new Error('a small file system is needed: only root may mount one')
  onTestFinished(disk.unmount)
  const data = join(folder, 'data')
  let kv = await spawnService('kv', { ...settings, data })
  const put = (i: number) => sendRequest(kv.url + entity(i), 'PUT', randomBytes(VALUE_BYTES))
  const remove = (i: number) => sendRequest(kv.url + entity(i), 'DELETE')
  const readiness = async () => (await sendRequest(`${kv.url}/readyz`, 'GET')).status
  const isRefusing = async () => /^kv_writes_refused 1$/m.test((await sendRequest(`${kv.url}/metrics`, 'GET')).text)

  // Writes until no flush of the logs frees enough space for another value.
  const stored: number[] = []
  let refused = 0
  for (let i = 0; refused < 8 || (await readiness()) !== 503; i++) {
    const { status, code } = await put(i)
    if (status === 201) {
      stored.push(i)
      refused = 0
    } else {
      expect(code).toBe('DISK_FULL')
      refused++
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
  expect(stored.length * VALUE_BYTES).toBeGreaterThan((MEGABYTES * 1_048_576) / 4)
  expect(await isRefusing()).toBe(true)
  // The disk is watched, so no write fails: the only error is that it is nearly full.
  expect(listErrors(kv)).toEqual(['kv: the disk is nearly full; only deletions are accepted'])

  const batch = (...lines: object[]) =>
    sendRequest(`${kv.url}/v0/batch`, 'POST', lines.map((line) => JSON.stringify(line)).join('\n'), NDJSON)
  expect((await batch({ op: 'delete', id: 'x' }, { op: 'put', id: 'y', value: '' })).code).toBe('DISK_FULL')
  expect((await batch({ op: 'delete', id: 'x' }, { op: 'delete', id: 'y' })).status).toBeLessThan(300)
  const half = stored.filter((i) => i % 2 === 0)
  for (const i of half) expect((await remove(i)).status).toBe(202)
  await kv.end('SIGKILL')

  kv = await spawnService('kv', { ...settings, data })
  for (const i of half) expect((await sendRequest(kv.url + entity(i), 'GET')).status).toBe(404)
  for (const i of stored.filter((i) => !half.includes(i)))
    expect((await sendRequest(kv.url + entity(i), 'HEAD')).status).toBe(200)
  for (const i of stored) expect((await remove(i)).status).toBe(202)
  await waitUntil(async () => (await readiness()) === 200)
  // Space becomes free in steps: a put may have to wait for the next one.
  for (let i = 0; i < stored.length / 2; i++) await waitUntil(async () => (await put(i)).status === 201)
  await waitUntil(() =>
    kv.log().some(({ msg }) => msg === 'kv: the disk has free space again; all writes are accepted'),
  )
  for (const error of listErrors(kv)) expect(error).toBe('kv: the disk is nearly full; only deletions are accepted')
  expect(existsSync(join(data, 'room.ballast'))).toBe(false)
  await kv.end('SIGTERM')
})
