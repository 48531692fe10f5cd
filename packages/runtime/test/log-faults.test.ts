import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { spawnStart, type Started } from './support/spawn-start.ts'
import { freePort } from './support/free-port.ts'
import { temporaryFolder } from './support/temporary.ts'
import { until } from './support/until.ts'

// Lines are counted.
const NO_REQUESTS = ['--request-log-sampling', '0', '--max-connections', '1000']

const ask = (port: number, path: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { connection: 'close' } }).then(
    async (reply) => ({ status: reply.status, text: await reply.text() }),
    () => undefined,
  )

async function figure(port: number, name: string): Promise<number> {
  const text = (await ask(port, '/metrics'))?.text ?? ''
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

const isServed = (port: number) => ask(port, '/value').then((reply) => reply?.status === 200)

/** Has a thread, main and the supervisor say something, each because of a fault that it has to outlive. */
async function haveAllSpeak(started: Started, port: number): Promise<void> {
  await until(() => isServed(port))
  const [pid] = started.children()
  for (let i = 0; i < 3; i++) expect((await ask(port, '/throw'))?.status).toBe(500)
  await ask(port, '/die', 'POST')
  await until(async () => (await figure(port, 'threads_respawned_total')) === 1)
  expect(await isServed(port)).toBe(true)
  // Main has said what became of the thread, twice.
  await until(async () => (await figure(port, 'log_lines_lost_total')) === 5)
  expect(started.children()).toEqual([pid])
  process.kill(pid!, 'SIGKILL')
  await until(() => started.children()[0] !== pid && isServed(port))
  expect((await ask(port, '/throw'))?.status).toBe(500)
  expect(await figure(port, 'log_lines_lost_total')).toBe(1)
}

describe('output that cannot be written', () => {
  test('on a full device hurts nobody', async () => {
    const output = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(output))
    const port = await freePort()
    const started = spawnStart(['counter', '--port', String(port), '--threads', '2', ...NO_REQUESTS], {}, { output })
    await haveAllSpeak(started, port)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })

  test('to a pipe that nobody reads any more hurts nobody', async () => {
    const started = spawnStart(['counter', '--port', '0', ...NO_REQUESTS])
    const { port } = (await started.ready()).counter!
    started.closeOutput()
    await haveAllSpeak(started, port)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })

  test('to a pipe that is full and not read hurts nobody', async () => {
    const started = spawnStart(['counter', '--port', '0'])
    const { port } = (await started.ready()).counter!
    started.holdOutput()
    await until(async () => {
      await Promise.all(Array.from({ length: 50 }, () => ask(port, '/throw')))
      return (await figure(port, 'log_lines_lost_total')) > 10
    })
    expect(await isServed(port)).toBe(true)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })

  test('to a file on a full disk is missed, and once there is room again its reader is told how much', async () => {
    const file = join(temporaryFolder(), 'log')
    const output = openSync(file, 'a')
    onTestFinished(() => closeSync(output))
    const port = await freePort()
    const started = spawnStart(['counter', '--port', String(port), ...NO_REQUESTS], {}, { output, fileLimit: 3 })
    await until(() => isServed(port))
    await until(async () => {
      expect((await ask(port, '/throw'))?.status).toBe(500)
      return (await figure(port, 'log_lines_lost_total')) === 3
    })
    for (const pid of started.children()) execFileSync('prlimit', ['--pid', String(pid), '--fsize=unlimited:'])
    expect((await ask(port, '/throw'))?.status).toBe(500)
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    expect(JSON.parse(lines.at(-2)!)).toMatchObject({ level: 40, service: 'counter', thread: 0, lost: 3 })
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ level: 50, msg: 'request failed' })
    expect(await figure(port, 'log_lines_lost_total')).toBe(3)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })
})

test('a main whose event loop stands still is ended, and another takes its place', async () => {
  const started = spawnStart(['counter', '--port', '0', '--watchdog-timeout', '500'])
  const { port, pid } = (await started.ready()).counter!
  await until(() => {
    // On a busy machine the thread that passes it on may be ended as stuck before it has.
    if (!started.stderr.includes('is stuck')) void ask(port, '/hang-on-main', 'POST')
    return started.stderr.includes('is back as process')
  })
  expect(started.stderr).toContain(`counter: process ${pid} is stuck\n`)
  expect(await isServed(port)).toBe(true)
  expect(await started.stop()).toMatchObject({ code: 0 })
})
