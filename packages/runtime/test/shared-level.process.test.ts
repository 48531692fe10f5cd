import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openSharedLevel, type SharedLevelOptions } from '../src/level/open/shared-level.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

const MODULE = new URL('../src/level/open/shared-level.ts', import.meta.url).href
const FULL_DISK_ERROR = new Error('IO error: 000003.log: No space left on device')

function createQuietLog() {
  return { error: vi.fn<(...args: any[]) => void>(), info: vi.fn<(...args: any[]) => void>() }
}

async function open(folder: string, more: Partial<SharedLevelOptions<string, string>> = {}) {
  const level = await openSharedLevel(folder, { service: 'counter', format: 1, log: createQuietLog(), ...more })
  onTestFinished(() => level.close())
  return level
}

/** A pending write that ends when the test resolves it. */
function createDeferred() {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  return { run: () => promise, done: resolve, fail: reject }
}

const settled = async (promise: Promise<unknown>) => {
  const pending = Symbol('pending')
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  return (await Promise.race([promise.catch(() => undefined), Promise.resolve(pending)])) !== pending
}

test('refuses writes that are pending when a write fails, on every thread and in every order', async () => {
  const folder = createTemporaryFolder()
  const main = await open(folder)
  const other = await open(folder, { share: main.share() })
  const [failing, before, after] = [createDeferred(), createDeferred(), createDeferred()]
  const first = main.write(failing.run)
  const done = [main.write(before.run), other.write(before.run)]
  const late = [main.write(after.run), other.write(after.run)]
  for (const write of late) write.catch(() => undefined)
  // Done, but perhaps after a partial record: LevelDB itself reports success.
  before.done()
  for (const write of done) expect(await settled(write)).toBe(false)
  failing.fail(FULL_DISK_ERROR)
  await expect(first).rejects.toMatchObject({ code: 'DISK_FULL', status: 507 })
  for (const write of done) expect(await settled(write)).toBe(false)
  after.done()
  for (const write of [...done, ...late]) await expect(write).rejects.toMatchObject({ code: 'DISK_FULL' })
  // Such a write does not even start.
  const run = vi.fn<() => Promise<void>>()
  for (const level of [main, other]) await expect(level.write(run)).rejects.toMatchObject({ code: 'DISK_FULL' })
  expect(run).not.toHaveBeenCalled()
})

test('a write that is done does not wait for writes that began later', async () => {
  const folder = createTemporaryFolder()
  const main = await open(folder)
  const other = await open(folder, { share: main.share() })
  const [one, two, later] = [createDeferred(), createDeferred(), createDeferred()]
  const writes = [main.write(one.run), other.write(two.run)]
  one.done()
  expect(await settled(writes[0]!)).toBe(false)
  const last = main.write(later.run)
  two.done()
  await writes[0]
  later.done()
  await Promise.all([writes[1], last])
})

test('accepts writes again after a fault, logs that once, and loses no acknowledged write', async () => {
  const folder = createTemporaryFolder()
  const log = createQuietLog()
  const recovered: (string | undefined)[] = []
  const main = await open(folder, { log, onRecovered: () => void recovered.push(main.getFault()?.code) })
  await main.write((db) => db.put('kept', 'yes'))
  for (let i = 0; i < 3; i++) {
    await expect(
      main.write(() => Promise.reject(new Error('IO error: 000003.log: Input/output error'))),
    ).rejects.toMatchObject({ code: 'STORE_FAILED', status: 503, headers: { 'retry-after': '1' } })
  }
  await waitUntil(() => !main.getFault())
  expect(log.error.mock.calls).toHaveLength(1)
  expect(log.error.mock.calls[0]![0]).toMatchObject({ err: { message: expect.stringContaining('000003.log') } })
  expect(log.info.mock.calls).toHaveLength(1)
  // At that time no write was accepted yet.
  expect(recovered).toEqual(['STORE_FAILED'])
  await main.write((db) => db.put('new', 'yes'))
  await main.close()
  const again = await open(folder)
  expect([again.db.getSync('kept'), again.db.getSync('new')]).toEqual(['yes', 'yes'])
})

test('reopens the database under reading threads if LevelDB accepts no writes', async () => {
  const folder = createTemporaryFolder()
  const main = await open(folder)
  await main.write((db) => db.put('key', 'value'))
  const share = main.share()
  const reader = `
    const { parentPort, workerData } = await import('node:worker_threads')
    const { openSharedLevel } = await import('${MODULE}')
    const level = await openSharedLevel(workerData.folder, { service: 'counter', format: 1, share: workerData.share })
    let reads = 0, closed = 0
    const reading = setInterval(() => {
      try { if (level.db.getSync('key') !== 'value') throw new Error('gone'); reads++ }
      catch (error) { if (error.code !== 'LEVEL_DATABASE_NOT_OPEN') throw error; closed++ }
    }, 1)
    parentPort.on('message', async (message) => {
      if (message === 'write') { await level.write((db) => db.put('other', 'thread')); parentPort.postMessage('written') }
      else { clearInterval(reading); await level.close(); parentPort.postMessage({ reads, closed }); parentPort.close() }
    })
    parentPort.postMessage('open')`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(reader)}`), {
    workerData: { folder, share },
  })
  expect(await once(worker, 'message')).toEqual(['open'])
  const close = vi.spyOn(main.db, 'close')
  const poisoned = vi.spyOn(main.db, 'compactRange').mockRejectedValueOnce(FULL_DISK_ERROR)
  await expect(main.write(() => Promise.reject(FULL_DISK_ERROR))).rejects.toMatchObject({ code: 'DISK_FULL' })
  await waitUntil(() => !main.getFault())
  expect([poisoned.mock.calls.length, close.mock.calls.length]).toEqual([2, 1])
  worker.postMessage('write')
  expect(await once(worker, 'message')).toEqual(['written'])
  worker.postMessage('end')
  const [{ reads }] = await once(worker, 'message')
  expect(reads).toBeGreaterThan(0)
  await once(worker, 'exit')
  await main.releaseShare(share)
  expect([main.db.getSync('key'), main.db.getSync('other')]).toEqual(['value', 'thread'])
})

test('a thread that dies during a write delays no other, and causes a new log', async () => {
  const folder = createTemporaryFolder()
  const main = await open(folder)
  const share = main.share()
  const other = await open(folder, { share })
  const lost = createDeferred()
  void other.write(lost.run).catch(() => undefined)
  const write = main.write((db) => db.put('key', 'value'))
  expect(await settled(write)).toBe(false)
  const flushed = vi.spyOn(main.db, 'compactRange')
  await main.releaseShare(share)
  await write
  expect(flushed).toHaveBeenCalledOnce()
  lost.done()
})
