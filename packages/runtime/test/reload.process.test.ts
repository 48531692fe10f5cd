import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startMixedLoad } from './support/mixed-load.ts'
import { spawnStart, START_SCRIPT, type SpawnedStart } from './support/spawn-start.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { isAlive, waitUntil } from './support/wait-until.ts'

const COUNTER = ['counter', '--port', '0', '--log-level', 'warn']
const JSON_TYPE = { 'content-type': 'application/json' }

/** Waits for the reload number `count` of a start. @returns the pid of the new process */
const waitForReload = (started: SpawnedStart, count = 1) =>
  waitUntil(() => {
    const found = [...started.stderr.matchAll(/^counter: reloaded as process (\d+)$/gm)]
    return found.length >= count && Number(found[count - 1]![1])
  })

test.each(['0', '2'])('SIGHUP replaces the process, and no request is lost, with %s threads', async (threads) => {
  const started = spawnStart([...COUNTER, '--threads', threads])
  const { counter } = await started.waitUntilReady()
  const load = startMixedLoad({
    port: counter!.port,
    clients: 8,
    create: (number) =>
      number % 3 === 0
        ? { method: 'PUT', path: '/value', headers: JSON_TYPE, body: JSON.stringify({ value: number % 100 }) }
        : { method: 'GET', path: '/value' },
  })
  await waitUntil(() => load.sent > 100)
  started.kill('SIGHUP')
  const pid = await waitForReload(started)
  const before = load.sent
  await waitUntil(() => load.sent > before + 100)
  load.stop()
  expect((await load.done).failures).toEqual([])
  expect(pid).not.toBe(counter!.pid)
  await waitUntil(() => !isAlive(counter!.pid))
  expect(started.listChildren()).toEqual([pid])
  expect(await started.stop()).toMatchObject({ code: 0 })
})

test('a predecessor that exits after its successor is ready is not restarted', async () => {
  const reload = async (exitDelay: number) => {
    const started = spawnStart([...COUNTER, '--exit-delay', String(exitDelay)])
    const { counter } = await started.waitUntilReady()
    started.kill('SIGHUP')
    const pid = await waitForReload(started)
    if (isAlive(counter!.pid)) return { started, pid, predecessor: counter!.pid }
    await started.stop()
    return undefined
  }
  // On a busy machine, the successor may take longer than the delay.
  const reloaded = (await reload(2_000)) ?? (await reload(20_000))
  expect(reloaded).toBeDefined()
  const { started, pid, predecessor } = reloaded!
  await waitUntil(() => !isAlive(predecessor))
  // A reload begins after all earlier events of processes.
  started.kill('SIGHUP')
  const next = await waitForReload(started, 2)
  await waitUntil(() => !isAlive(pid))
  expect(started.listChildren()).toEqual([next])
  expect(started.stderr).not.toContain('restarts it')
  expect(await started.stop()).toMatchObject({ code: 0 })
})

test('a connection that waits for the successor is answered by it', async () => {
  const started = spawnStart([...COUNTER, '--threads', '1', '--openDelay', '300'])
  const { counter } = await started.waitUntilReady()
  started.kill('SIGHUP')
  await waitUntil(() => !isAlive(counter!.pid))
  expect((await fetch(`${counter!.url}/value`)).status).toBe(200)
  await waitForReload(started)
  expect(await started.stop()).toMatchObject({ code: 0 })
})

test('a reload reads the files of settings again; if they are wrong, the process continues', async () => {
  const file = join(createTemporaryFolder(), 'token')
  writeFileSync(file, 'first')
  const started = spawnStart([...COUNTER, '--threads', '0', '--api-token-file', file])
  const { counter } = await started.waitUntilReady()
  const put = (token: string) =>
    fetch(`${counter!.url}/value`, {
      method: 'PUT',
      headers: { ...JSON_TYPE, authorization: `Bearer ${token}` },
      body: '{"value":1}',
    }).then(({ status }) => status)
  expect([await put('first'), await put('second')]).toEqual([200, 401])
  writeFileSync(file, 'second')
  started.kill('SIGHUP')
  const pid = await waitForReload(started)
  expect([await put('first'), await put('second')]).toEqual([401, 200])
  writeFileSync(file, '')
  started.kill('SIGHUP')
  await waitUntil(() => started.stderr.includes('reload failed: '))
  expect(await put('second')).toBe(200)
  expect(started.listChildren()).toEqual([pid])
  expect(await started.stop()).toMatchObject({ code: 0 })
})

test('a stop during a reload ends both processes', async () => {
  const started = spawnStart([...COUNTER, '--threads', '1'])
  await started.waitUntilReady()
  // A busy machine may not show both processes before the reload has ended; then another one begins.
  let reloads = 0
  await waitUntil(() => {
    if (started.stderr.split('reloaded as').length > reloads) {
      started.kill('SIGHUP')
      reloads++
    }
    return started.listChildren().length === 2
  })
  expect(await started.stop()).toMatchObject({ code: 0 })
  expect(started.listChildren()).toEqual([])
})

test('a start waits for a port that is in use', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => holder.once('listening', resolve))
  const { port } = holder.address() as AddressInfo
  const started = spawnStart(['counter', '--port', String(port), '--threads', '0'])
  await waitUntil(() => started.stderr.includes(`counter: 127.0.0.1:${port} is in use; waiting up to `))
  holder.close()
  expect((await started.waitUntilReady()).counter!.port).toBe(port)
  expect(started.stderr.match(/is in use/g)).toHaveLength(1)
  expect(await started.stop()).toMatchObject({ code: 0 })
})

test('a start waits for a data folder that is in use', async () => {
  const args = ['kv', '--port', '0', '--threads', '0', '--log-level', 'warn', '--data', createTemporaryFolder()]
  const first = spawnStart(args, {}, { script: START_SCRIPT })
  await first.waitUntilReady()
  const second = spawnStart(args, {}, { script: START_SCRIPT })
  await waitUntil(() => second.stderr.includes(' is in use by another process; waiting up to '))
  expect((await first.stop()).code).toBe(0)
  await second.waitUntilReady()
  expect(second.stderr.match(/is in use/g)).toHaveLength(1)
  expect(await second.stop()).toMatchObject({ code: 0 })
})

// A program that listens, and passes its sockets to a start as systemd does.
const ACTIVATOR = `
import os, socket, sys
listener = socket.create_server(('127.0.0.1', 0), backlog=128)
print(listener.getsockname()[1], flush=True)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        env = {**os.environ, 'LISTEN_FDS': '1', 'LISTEN_PID': str(os.getpid())}
        os.execve(sys.argv[1], sys.argv[1:], env)
    os.waitpid(pid, 0)
`

test('a socket that systemd holds stays open while the supervisor itself is restarted', async () => {
  const args = ['kv', '--port', '9', '--threads', '2', '--log-level', 'warn', '--data', createTemporaryFolder()]
  const activator = spawn('python3', ['-c', ACTIVATOR, process.execPath, START_SCRIPT, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  activator.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  onTestFinished(() => void activator.kill())
  const port = Number(await waitUntil(() => /^(\d+)\n/.exec(output)?.[1]))
  const getPid = (count: number) =>
    waitUntil(() => {
      const rows = [...output.matchAll(/^kv +http:\S+?:(\d+) +(\d+) +2$/gm)]
      return rows.length >= count && rows[count - 1]!.slice(1).map(Number)
    })
  const get = () => fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } })
  // The request waits for the first start.
  const first = get()
  activator.stdin.write('start\n')
  expect((await first).status).toBe(200)
  expect((await getPid(1))[0]).toBe(port)
  const [supervisor] = await waitUntil(() => {
    const pids = readFileSync(`/proc/${activator.pid}/task/${activator.pid}/children`, 'utf8').trim()
    return pids !== '' && pids.split(' ').map(Number)
  })
  onTestFinished(() => void (isAlive(supervisor!) && process.kill(supervisor!)))
  process.kill(supervisor!, 'SIGTERM')
  await waitUntil(() => !isAlive(supervisor!))
  const second = get()
  activator.stdin.write('start\n')
  expect((await second).status).toBe(200)
  const [successor] = readFileSync(`/proc/${activator.pid}/task/${activator.pid}/children`, 'utf8').trim().split(' ')
  process.kill(Number(successor), 'SIGTERM')
  await waitUntil(() => !isAlive(Number(successor)))
})
