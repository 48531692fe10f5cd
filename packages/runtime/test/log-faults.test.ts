import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { spawnStart, type SpawnedStart } from './support/spawn-start.ts'
import { findFreePort } from './support/free-port.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

// Lines are counted.
const NO_REQUESTS = ['--request-log-sampling', '0', '--max-connections', '1000']

const request = (port: number, path: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { connection: 'close' } }).then(
    async (reply) => ({ status: reply.status, text: await reply.text() }),
    () => undefined,
  )

async function readMetric(port: number, name: string): Promise<number> {
  const text = (await request(port, '/metrics'))?.text ?? ''
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

const isServed = (port: number) => request(port, '/value').then((reply) => reply?.status === 200)

/** Has a thread, main and the supervisor say something, each because of a fault that it has to outlive. */
async function makeAllLog(started: SpawnedStart, port: number): Promise<void> {
  await waitUntil(() => isServed(port))
  const [pid] = started.listChildren()
  for (let i = 0; i < 3; i++) expect((await request(port, '/throw'))?.status).toBe(500)
  await request(port, '/die', 'POST')
  await waitUntil(async () => (await readMetric(port, 'threads_respawned_total')) === 1)
  expect(await isServed(port)).toBe(true)
  // Main has said what became of the thread, twice.
  await waitUntil(async () => (await readMetric(port, 'log_lines_lost_total')) === 5)
  expect(started.listChildren()).toEqual([pid])
  process.kill(pid!, 'SIGKILL')
  await waitUntil(() => started.listChildren()[0] !== pid && isServed(port))
  expect((await request(port, '/throw'))?.status).toBe(500)
  expect(await readMetric(port, 'log_lines_lost_total')).toBe(1)
}

describe('output that cannot be written', () => {
  test('on a full device hurts nobody', async () => {
    const output = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(output))
    const port = await findFreePort()
    const started = spawnStart(['counter', '--port', String(port), '--threads', '2', ...NO_REQUESTS], {}, { output })
    await makeAllLog(started, port)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })

  test('to a pipe that nobody reads any more hurts nobody', async () => {
    const started = spawnStart(['counter', '--port', '0', ...NO_REQUESTS])
    const { port } = (await started.waitUntilReady()).counter!
    started.closeOutput()
    await makeAllLog(started, port)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })

  test('to a pipe that is full and not read hurts nobody', async () => {
    const started = spawnStart(['counter', '--port', '0'])
    const { port } = (await started.waitUntilReady()).counter!
    started.pauseOutput()
    await waitUntil(async () => {
      await Promise.all(Array.from({ length: 50 }, () => request(port, '/throw')))
      return (await readMetric(port, 'log_lines_lost_total')) > 10
    })
    expect(await isServed(port)).toBe(true)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })

  test('to a file on a full disk is missed, and once there is room again its reader is told how much', async () => {
    const file = join(createTemporaryFolder(), 'log')
    const output = openSync(file, 'a')
    onTestFinished(() => closeSync(output))
    const port = await findFreePort()
    const started = spawnStart(['counter', '--port', String(port), ...NO_REQUESTS], {}, { output, fileLimit: 3 })
    await waitUntil(() => isServed(port))
    await waitUntil(async () => {
      expect((await request(port, '/throw'))?.status).toBe(500)
      return (await readMetric(port, 'log_lines_lost_total')) === 3
    })
    for (const pid of started.listChildren()) execFileSync('prlimit', ['--pid', String(pid), '--fsize=unlimited:'])
    expect((await request(port, '/throw'))?.status).toBe(500)
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    expect(JSON.parse(lines.at(-2)!)).toMatchObject({ level: 40, service: 'counter', thread: 0, lost: 3 })
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ level: 50, msg: 'request failed' })
    expect(await readMetric(port, 'log_lines_lost_total')).toBe(3)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })
})

test('a main whose event loop stands still is ended, and another takes its place', async () => {
  const started = spawnStart(['counter', '--port', '0', '--watchdog-timeout', '500'])
  const { port, pid } = (await started.waitUntilReady()).counter!
  await waitUntil(() => {
    // On a busy machine the thread that passes it on may be ended as stuck before it has.
    if (!started.stderr.includes('is stuck')) void request(port, '/hang-on-main', 'POST')
    return started.stderr.includes('is back as process')
  })
  expect(started.stderr).toContain(`counter: process ${pid} is stuck\n`)
  expect(await isServed(port)).toBe(true)
  expect(await started.stop()).toMatchObject({ code: 0 })
})
