import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { limitFileSize, spawnService, type ServiceProcess } from './support/service-process.ts'
import { mountSmallDisk } from './support/small-disk.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

/** A service that stores: writes and reads of its i-th item. */
interface StorageCase {
  readonly settings?: Record<string, string | number>
  /** Size of the disk (MB), and the number of writes after it has free space again. */
  readonly megabytes: number
  readonly puts: number
  put(url: string, i: number): Promise<Response>
  /** True if the item exists. */
  has(url: string, i: number): Promise<boolean>
}

const uuid = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
const json = { 'content-type': 'application/json' }
const found = async (reply: Response) => {
  await reply.arrayBuffer()
  return reply.status === 200
}
const levelSettings = { history: 'level', maxTopics: 100_000, historyBytes: 100_000 }
const sse = (settings: Record<string, string | number>): StorageCase => ({
  settings: { ...levelSettings, ...settings },
  megabytes: 3,
  puts: 200,
  put: (url, i) => fetch(`${url}/put?topic=t${i}`, { method: 'POST', body: `${i} `.repeat(300) }),
  has: async (url, i) => found(await fetch(`${url}/value?topic=t${i}`)),
})
const kv = (settings: Record<string, string | number>): StorageCase => ({
  settings,
  megabytes: 3,
  puts: 200,
  put: (url, i) => fetch(`${url}/v0/entity?id=k${i}`, { method: 'PUT', body: `${i} `.repeat(300) }),
  has: async (url, i) => found(await fetch(`${url}/v0/entity?id=k${i}`)),
})
const prices = (settings: Record<string, string | number>): StorageCase => ({
  settings: { sample: 'no', ...settings },
  // Each price is written with its block of 116 KB.
  megabytes: 24,
  puts: 20,
  put(url, i) {
    const price = { id: uuid(i), offeringId: uuid(0), groupId: uuid(1), priceSpecId: 'spec', charValues: [], value: i }
    return fetch(`${url}/prices/${uuid(i)}`, { method: 'PUT', headers: json, body: JSON.stringify(price) })
  },
  has: async (url, i) => found(await fetch(`${url}/prices/${uuid(i)}`)),
})

const stats: StorageCase = {
  settings: { youtubeUri: 'http://127.0.0.1:9', sseUri: '', threads: 1 },
  megabytes: 3,
  puts: 200,
  put(url, i) {
    const videos = Array.from({ length: 60 }, (_, n) => `v${String(i * 100 + n).padStart(10, '0')}`)
    return fetch(`${url}/collections/${uuid(i)}`, { method: 'PUT', headers: json, body: JSON.stringify({ videos }) })
  },
  has: async (url, i) => found(await fetch(`${url}/collections/${uuid(i)}`)),
}

/**
 * A disk that can be full: a small file system if it can be mounted, otherwise a limit on the file sizes of the
 * process.
 */
interface LimitedDisk {
  readonly data: string
  /** Fills the disk up to the given number of free bytes. */
  fill(service: ServiceProcess, left: number): void
  free(service: ServiceProcess): void
}

function createSmallDisk(megabytes: number): LimitedDisk {
  const folder = createTemporaryFolder()
  const disk = mountSmallDisk(folder, megabytes)
  if (!disk) return createFileLimit(folder)
  onTestFinished(disk.unmount)
  return { data: join(folder, 'data'), fill: (_, left) => disk.fill(left), free: disk.free }
}

/** Limits the growth of the LevelDB log. No other file can become larger than that either. */
function createFileLimit(folder: string): LimitedDisk {
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  return {
    data,
    fill({ pid }, left) {
      const level = join(data, 'level')
      const log = readdirSync(level).find((name) => name.endsWith('.log'))!
      limitFileSize(pid, statSync(join(level, log)).size + left)
    },
    free: ({ pid }) => limitFileSize(pid, 'unlimited'),
  }
}

const ready = async (url: string) => {
  const reply = await fetch(`${url}/readyz`)
  await reply.arrayBuffer()
  return reply.status === 200
}

async function isStored(reply: Promise<Response>): Promise<boolean> {
  const { ok, status, body } = await reply
  await body?.cancel()
  if (!ok) expect([503, 507]).toContain(status)
  return ok
}

// stats also logs errors about an upstream that it cannot reach.
const DISK_MESSAGE = /write failed|request failed|could not be stored/

// Where the disk ends decides how much of a record is written, and so whether a partial record remains.
const createTornRecord = () => createFileLimit(createTemporaryFolder())

it.each([
  ['stats', 'a small disk', createSmallDisk, 9_000, stats],
  ['kv', 'a small disk', createSmallDisk, 9_000, kv({ threads: 1 })],
  ['sse', 'a small disk', createSmallDisk, 9_000, sse({ threads: 1 })],
  ['prices', 'a small disk', createSmallDisk, 9_000, prices({ threads: 1, catalog: 'memory' })],
  ['stats', 'half a record', createTornRecord, 300, stats],
  ['kv', 'half a record, commit single on two threads', createTornRecord, 300, kv({ threads: 2, commit: 'single' })],
  ['sse', 'half a record, broker local', createTornRecord, 300, sse({ threads: 0, broker: 'local' })],
  ['prices', 'half a record, catalog lru-level', createTornRecord, 300, prices({ threads: 1, catalog: 'lru-level' })],
] as const)(
  '%s retains all acknowledged writes after its disk was full: %s',
  async (name, _, diskOf, left, { settings, megabytes, puts, put, has }) => {
    const disk = diskOf(megabytes)
    let service = await spawnService(name, { ...settings, data: disk.data })
    const acknowledged: number[] = []
    let next = 0
    const putNext = async () => {
      const i = next++
      const isAcknowledged = await isStored(put(service.url, i))
      if (isAcknowledged) acknowledged.push(i)
      return isAcknowledged
    }
    for (let i = 0; i < 5; i++) expect(await putNext()).toBe(true)

    disk.fill(service, left)
    let refused = 0
    while (refused < 3) if (!(await putNext())) refused++
    // The service is not ready, still serves reads, and has logged the fault once with its cause.
    expect(await ready(service.url)).toBe(false)
    expect(await has(service.url, acknowledged[0]!)).toBe(true)
    const faults = () => service.log().filter(({ level, msg }) => level >= 50 && DISK_MESSAGE.test(msg))
    // kv may detect low disk space before a write fails.
    const isLow = () => service.log().some(({ msg }) => msg.includes('nearly full'))
    // A reply can arrive before the log line.
    await waitUntil(() => isLow() || faults().length > 0)
    const cause = expect.stringMatching(/No space left|File too large/)
    const messages = faults().map(({ err }) => err?.message)
    expect(messages).toEqual(isLow() && messages.length === 0 ? [] : [cause])

    disk.free(service)
    await waitUntil(() => ready(service.url))
    for (let i = 0; i < puts; i++) expect(await putNext()).toBe(true)
    await service.end('SIGKILL')
    service = await spawnService(name, { ...settings, data: disk.data })
    const lost = []
    for (const i of acknowledged) if (!(await has(service.url, i))) lost.push(i)
    expect(lost).toEqual([])
    await service.end('SIGTERM')
  },
)
