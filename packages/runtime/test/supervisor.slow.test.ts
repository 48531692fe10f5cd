import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findFreePort } from './support/free-port.ts'
import { spawnStart } from './support/spawn-start.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { isAlive, waitUntil } from './support/wait-until.ts'

// No threads by default: the start of a thread takes as long as all the rest.
const FREE_PORTS = ['--port', '0', '--log-level', 'warn', '--threads', '0']

/** The number of a service; `undefined` while it is unavailable. */
const valueAt = (url: string) =>
  fetch(`${url}/value`, { headers: { connection: 'close' } }).then(
    async (reply) => ((await reply.json()) as { value: number }).value,
    () => undefined,
  )

describe('a start', () => {
  test('ends with a table of the services, and stops cleanly', async () => {
    const started = spawnStart([...FREE_PORTS, '--counter.threads', '2', '--asker.threads', '0', '--start', '7'])
    const { counter, asker } = await started.waitUntilReady()
    expect([counter!.threads, asker!.threads]).toEqual([2, 0])
    expect([await valueAt(counter!.url), await valueAt(asker!.url)]).toEqual([7, 7])
    expect(started.listChildren().toSorted()).toEqual([counter!.pid, asker!.pid].toSorted())
    expect(await started.stop()).toMatchObject({ code: 0, signal: null })
    expect([isAlive(counter!.pid), isAlive(asker!.pid)]).toEqual([false, false])
    expect(started.stderr).toBe('')
  })

  test('prints its table first and log lines after it, unless it is verbose', async () => {
    const partsOf = (text: string) => text.split('service ')
    const args = ['counter', ...FREE_PORTS, '--log-level', 'debug', '--max-connections', '1000000']
    const started = spawnStart(args)
    await started.waitUntilReady()
    await waitUntil(() => started.stdout.includes('"opening"'))
    const [before, table] = partsOf(started.stdout)
    expect(before).toBe('\n')
    expect(table).toMatch(/^counter: ulimit -n is \d+/m)
    expect((await started.stop()).code).toBe(0)

    const verbose = spawnStart([...args, '--verbose'])
    await verbose.waitUntilReady()
    expect(partsOf(verbose.stdout)[0]).toContain('"opening"')
    expect((await verbose.stop()).code).toBe(0)

    const failing = spawnStart([...args, '--failOpen', 'no luck'])
    expect((await failing.exit).code).toBe(1)
    expect(failing.stdout).toContain('"opening"')
  })

  test.each([
    [1, 8],
    [16, 16],
  ])('gives a thread a young generation of twice %i MB, and main, which loads the data, %i', async (setting, main) => {
    const started = spawnStart(['counter', ...FREE_PORTS, '--threads', '1', '--max-semi-space-size', String(setting)])
    const { counter } = await started.waitUntilReady()
    const heap = (await (await fetch(`${counter!.url}/heap`)).json()) as { main: number; thread: number }
    // V8 counts half of it three times.
    expect(heap.main - heap.thread).toBe(3 * (main - setting))
    expect((await started.stop()).code).toBe(0)
  })

  const hasCurl = spawnSync('curl', ['--version']).error === undefined
  test.skipIf(!hasCurl)('prints a command that works, with the token if one is necessary', async () => {
    const env = { API_TOKEN: 'hunter2' }
    const started = spawnStart(['counter', ...FREE_PORTS], env)
    await started.waitUntilReady()
    expect(started.stdout).not.toContain('hunter2')
    const command = started.stdout.slice(started.stdout.indexOf('Try counter:')).split('\n').slice(1).join('\n')
    const reply = await promisify(execFile)('sh', ['-c', command], { env: { ...env, PATH: process.env.PATH } })
    expect(reply.stdout).toBe('{"value":42}')
  })

  test('starts required services too, and stops them last', async () => {
    const started = spawnStart(['asker', ...FREE_PORTS, '--log-level', 'info'])
    const { counter, asker } = await started.waitUntilReady()
    expect(await valueAt(asker!.url)).toBe(0)
    expect(counter).toBeDefined()
    expect((await started.stop()).code).toBe(0)
    const closed = started.stdout.split('\n').filter((line) => line.includes('"closed"'))
    expect(closed.map((line) => JSON.parse(line).service)).toEqual(['asker', 'counter'])
  })

  test('starts no required service if its address is set or it is unnecessary', async () => {
    for (const [args, env] of [
      [['--asker.counterUri', 'http://127.0.0.1:9'], {}],
      [[], { ASKER_COUNTER_URI: 'http://127.0.0.1:9' }],
      [['--from', 'nowhere'], {}],
    ] as const) {
      const started = spawnStart(['asker', ...FREE_PORTS, ...args], env)
      expect(Object.keys(await started.waitUntilReady())).toEqual(['asker'])
      expect((await started.stop()).code).toBe(0)
    }
  })

  const mirrorOf = async (url: string) => ((await (await fetch(`${url}/mirror`)).json()) as { uri: string }).uri

  test('starts a service with a later dependency as soon as that address is known', async () => {
    const [asker, counter] = [await findFreePort(), await findFreePort()].map((port) => ({
      port,
      url: `http://127.0.0.1:${port}`,
    }))
    const appGateFile = join(createTemporaryFolder(), 'gate')
    const ports = ['--asker.port', String(asker!.port), '--counter.port', String(counter!.port)]
    const started = spawnStart([
      'asker',
      'counter',
      '--threads',
      '0',
      ...ports,
      '--from',
      'nowhere',
      '--appGate',
      appGateFile,
    ])
    await waitUntil(() =>
      mirrorOf(asker!.url).then(
        (uri) => uri === counter!.url,
        () => false,
      ),
    )
    expect(await valueAt(counter!.url)).toBeUndefined()
    writeFileSync(appGateFile, '')
    expect((await started.waitUntilReady()).counter!.url).toBe(counter!.url)
    expect((await started.stop()).code).toBe(0)
  })

  test('sets the address of an optional dependency if that is started anyway', async () => {
    const alone = spawnStart(['asker', ...FREE_PORTS, '--from', 'nowhere'])
    expect(await mirrorOf((await alone.waitUntilReady()).asker!.url)).toBe('')
    expect((await alone.stop()).code).toBe(0)
    const both = spawnStart(['asker', 'counter', ...FREE_PORTS, '--from', 'nowhere'])
    const { asker, counter } = await both.waitUntilReady()
    expect(await mirrorOf(asker!.url)).toBe(counter!.url)
    expect((await both.stop()).code).toBe(0)
  })

  test('--help lists services and settings, and starts no service', async () => {
    const started = spawnStart(['--help'])
    expect(await started.exit).toEqual({ code: 0, signal: null })
    for (const word of ['pnpm start [service...]', 'counter', 'asker', '--threads', '--counter-uri'])
      expect(started.stdout).toContain(word)
  })

  test('--version prints the versions', async () => {
    const started = spawnStart(['--version'])
    expect(await started.exit).toEqual({ code: 0, signal: null })
    expect(started.stdout).toMatch(/^influencer-stats \d+\.\d+\.\d+, Node v24\S+\n$/)
  })

  test('accepts a token when other machines can connect', async () => {
    const started = spawnStart(['counter', ...FREE_PORTS, '--host', '0.0.0.0'], { API_TOKEN: 'hunter2' })
    const { counter } = await started.waitUntilReady()
    expect(await valueAt(counter!.url)).toBe(0)
    expect((await fetch(`${counter!.url}/value`, { method: 'PUT' })).status).toBe(401)
    expect((await started.stop()).code).toBe(0)
  })

  test('exits cleanly after an interrupt', async () => {
    const started = spawnStart([...FREE_PORTS, '--openDelay', '500'])
    await waitUntil(() => started.listChildren().length > 0)
    expect(await started.stop('SIGINT')).toMatchObject({ code: 0, signal: null })
  })

  test('can be interrupted while it hangs', async () => {
    const started = spawnStart(['asker', ...FREE_PORTS, '--openDelay', '600000', '--shutdown-timeout', '1'])
    await waitUntil(() => started.listChildren().length > 0)
    await delay(200)
    const [child] = started.listChildren()
    await started.stop()
    expect(isAlive(child!)).toBe(false)
  })
})

describe('a wrong start prints one clear line, and leaves no process running', () => {
  async function getFailure(args: string[], env = {}): Promise<string> {
    const started = spawnStart(args, env)
    const { code, signal } = await started.exit
    expect({ code, signal, stdout: started.stdout.replaceAll(/^\{.*\n/gm, '') }).toEqual({
      code: 1,
      signal: null,
      stdout: '',
    })
    expect(started.listChildren()).toEqual([])
    return started.stderr
  }

  test.each([
    ['an unknown service', ['stats'], 'unknown service: stats; known: counter, asker\n'],
    [
      'an unknown flag',
      ['--nonsense', '1'],
      '--nonsense: no started service has this setting (--help lists the settings)\n',
    ],
    ['a flag without a value', ['--port'], '--port has no value: write --port VALUE or --port=VALUE\n'],
    [
      'one port for two',
      ['--port', '9000'],
      'port 9000 cannot serve 2 services: set --counter.port and --asker.port\n',
    ],
    [
      'an address that is not ours',
      ['counter', '--host', '192.0.2.1', '--api-token', 'x'],
      '192.0.2.1:18080 is not an address of this machine; choose another with --counter.port\n',
    ],
    [
      '0.0.0.0 without a token',
      ['counter', '--host', '0.0.0.0', '--port', '0'],
      'counter: 0.0.0.0 is reachable from other machines and requires a token: set API_TOKEN or API_TOKEN_FILE\n',
    ],
    [
      'more threads than are right',
      ['counter', '--threads', '2', '--single', 'it is a list', '--port', '0'],
      'counter: a maximum of one serving thread, because it is a list\n',
    ],
    ['a part that refuses to open', [...FREE_PORTS, '--refuseOpen', 'the folder is locked'], 'the folder is locked\n'],
  ])('%s', async (_what, args, stderr) => expect(await getFailure(args)).toBe(stderr))

  test('all errors at once', async () => {
    const stderr = await getFailure(['--counter.port', 'x', '--threads', '99', '--body-limit', '0'], {
      COUNTER_START: 'many',
    })
    expect(stderr).toMatch(/^--counter.port: .*; --threads: .*; --body-limit: .*; COUNTER_START: .*\n$/)
    expect(stderr.split('\n')).toHaveLength(2)
  })

  test('a port in use, whatever else could start', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    expect(await getFailure([...FREE_PORTS, '--asker.port', String(port), '--shutdown-timeout', '1'])).toBe(
      `asker: 127.0.0.1:${port} is in use; waiting up to 6 s for it\n127.0.0.1:${port} is in use; choose another with --asker.port\n`,
    )
  })

  test('a fault of the program is printed with its stack', async () => {
    expect(await getFailure([...FREE_PORTS, '--failOpen', 'no such thing'])).toMatch(
      /^counter: Error: no such thing\n +at /,
    )
  })
})

describe('a service process that dies', () => {
  test('is restarted on its port, while the others continue', async () => {
    const started = spawnStart([...FREE_PORTS, '--counter.threads', '1'])
    const { counter, asker } = await started.waitUntilReady()
    process.kill(counter!.pid, 'SIGKILL')
    await waitUntil(() => started.stderr.includes('counter: restarted as process'))
    expect(started.stderr).toContain(`counter: process ${counter!.pid} exited (SIGKILL); the supervisor restarts it\n`)
    expect(await valueAt(counter!.url)).toBe(0)
    expect(await valueAt(asker!.url)).toBe(0)
    expect(isAlive(asker!.pid)).toBe(true)
    expect(await started.stop()).toMatchObject({ code: 0 })
  })

  test('is restarted after an error on its main thread, and after a signal to it alone', async () => {
    const started = spawnStart(['counter', ...FREE_PORTS])
    const { counter } = await started.waitUntilReady()
    await fetch(`${counter!.url}/die-on-main`, { method: 'POST' }).catch(() => {})
    await waitUntil(() => /restarted as process (\d+)/.exec(started.stderr))
    process.kill(started.listChildren()[0]!, 'SIGTERM')
    await waitUntil(() => started.stderr.match(/restarted as process/g)?.length === 2)
    expect(started.stderr).toContain('exited (exit code 1)')
    expect(await valueAt(counter!.url)).toBe(0)
    expect((await started.stop()).code).toBe(0)
  })

  test('can be stopped before its restart', async () => {
    const started = spawnStart(['counter', ...FREE_PORTS])
    const { counter } = await started.waitUntilReady()
    process.kill(counter!.pid, 'SIGKILL')
    await waitUntil(() => started.stderr.includes('exited (SIGKILL)'))
    await started.stop()
    expect(started.listChildren()).toEqual([])
  })
})

describe('a supervisor that is killed', () => {
  test('leaves no process running', async () => {
    const started = spawnStart([...FREE_PORTS, '--counter.threads', '2', '--asker.threads', '0'])
    const { counter, asker } = await started.waitUntilReady()
    await started.stop('SIGKILL')
    await waitUntil(() => !isAlive(counter!.pid) && !isAlive(asker!.pid))
  })

  test.each([0, 60, 120, 240])('leaves no process running %i ms after it started the first', async (ms) => {
    const started = spawnStart([...FREE_PORTS, '--openDelay', '100'])
    const children = await waitUntil(() => started.listChildren().length > 0 && started.listChildren())
    await delay(ms)
    const all = [...new Set([...children, ...started.listChildren()])]
    await started.stop('SIGKILL')
    await waitUntil(() => !all.some(isAlive))
  })
})
