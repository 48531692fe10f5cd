import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { spawnStart, type SpawnedStart } from './support/spawn-start.ts'
import { findFreePort } from './support/free-port.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

// The test counts log lines.
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

/** Causes log lines of a thread and main, then kills the process and waits for the next. @returns the lines it lost */
async function makeProcessLog(started: SpawnedStart, port: number): Promise<number> {
  await waitUntil(() => isServed(port))
  const [pid] = started.listChildren()
  for (let i = 0; i < 3; i++) expect((await request(port, '/throw'))?.status).toBe(500)
  await request(port, '/die', 'POST')
  await waitUntil(async () => (await readMetric(port, 'threads_respawned_total')) === 1)
  expect(await isServed(port)).toBe(true)
  // Main has logged the exit and the restart of the thread.
  const lost = await waitUntil(async () => {
    const lines = await readMetric(port, 'log_lines_lost_total')
    return lines >= 5 && lines
  })
  expect(started.listChildren()).toEqual([pid])
  process.kill(pid!, 'SIGKILL')
  await waitUntil(() => started.listChildren()[0] !== pid && isServed(port))
  return lost
}

/** Causes log lines of threads, main and the supervisor. Each has to survive its fault. */
async function makeAllLog(started: SpawnedStart, port: number): Promise<void> {
  let lost = await makeProcessLog(started, port)
  // A scrape that the dying thread does not answer adds a line, but not in each of some processes.
  for (let i = 0; i < 2 && lost !== 5; i++) lost = await makeProcessLog(started, port)
  expect(lost).toBe(5)
  expect((await request(port, '/throw'))?.status).toBe(500)
  expect(await readMetric(port, 'log_lines_lost_total')).toBe(1)
}

describe('output that cannot be written', () => {
  test('on a full device has no further effect', async () => {
    const output = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(output))
    const port = await findFreePort()
    const started = spawnStart(['counter', '--port', String(port), '--threads', '2', ...NO_REQUESTS], {}, { output })
    await makeAllLog(started, port)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })

  test('to a closed pipe has no further effect', async () => {
    const started = spawnStart(['counter', '--port', '0', ...NO_REQUESTS])
    const { port } = (await started.waitUntilReady()).counter!
    started.closeOutput()
    await makeAllLog(started, port)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })

  test('to a full pipe has no further effect', async () => {
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

  test('to a file on a full disk is lost, and later the log has the number of lost lines', async () => {
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

test('restarts a main process whose event loop is blocked', async () => {
  const started = spawnStart(['counter', '--port', '0', '--watchdog-timeout', '2000'])
  const { port, pid } = (await started.waitUntilReady()).counter!
  await waitUntil(() => {
    // On a busy machine, the watchdog may end the thread that forwards the request before it does so.
    if (!started.stderr.includes('does not respond')) void request(port, `/hang-on-main?pid=${pid}`, 'POST')
    return started.stderr.includes('restarted as process')
  })
  expect(started.stderr).toContain(`counter: process ${pid} does not respond\n`)
  expect(await isServed(port)).toBe(true)
  expect(await started.stop()).toMatchObject({ code: 0 })
})
