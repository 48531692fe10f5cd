import * as fc from 'fast-check'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { embed } from '../src/supervisor/embed.ts'
import type { RunningService } from '../src/supervisor/service-host.ts'
import { counter as definition } from './fixtures/services.ts'
import { expectProblem, SERVICES_URL, startCounter } from './support/counter-service.ts'
import { connectPerThread } from './support/client-fleet.ts'
import { formatRequest, type RawClient } from './support/raw-client.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'
import { scaleRuns } from './support/scale-runs.ts'

async function readValue(client: RawClient): Promise<number> {
  client.send(formatRequest('GET', '/value'))
  return JSON.parse((await client.reply()).body).value
}

async function put(client: RawClient, value: number): Promise<void> {
  client.send(formatRequest('PUT', '/value', {}, JSON.stringify({ value })))
  expect((await client.reply()).status).toBe(200)
}

async function listThreads(client: RawClient, within: number): Promise<number[]> {
  client.send(formatRequest('GET', `/who?within=${within}`))
  return JSON.parse((await client.reply()).body)
}

const crash = (client: RawClient, path: string) => client.send(formatRequest('POST', path))

async function countRespawned(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })).text()
  return Number(/^threads_respawned_total (\d+)$/m.exec(text)![1])
}

describe.each([0, 1, 3])('with %i threads', (threads) => {
  let counter: RunningService
  let clients: Map<string, RawClient>
  beforeAll(async () => {
    counter = await embed(definition, { threads }, SERVICES_URL)
  })
  afterAll(async () => void (await counter.stop()))
  beforeEach(async () => {
    clients = await connectPerThread(Number(new URL(counter.url).port), threads || 1)
  })

  test('a value that one thread has acknowledged is at once known to all', async () => {
    expect(counter.threads).toBe(threads)
    const all = [...clients.values()]
    await fc.assert(
      fc.asyncProperty(fc.nat(all.length - 1), fc.integer(), async (writer, value) => {
        await put(all[writer]!, value)
        expect(await Promise.all(all.map(readValue))).toEqual(all.map(() => value))
      }),
      { numRuns: scaleRuns(40) },
    )
  })

  test('a broadcast returns the replies of all', async () => {
    const answers = await listThreads([...clients.values()][0]!, 10_000)
    expect(answers.map(String).toSorted()).toEqual([...clients.keys()].toSorted())
  })

  test('a call to main without a reply in time is a problem', async () => {
    const [client] = clients.values()
    client!.send(formatRequest('GET', '/never'))
    expectProblem(await client!.reply(), 503, 'INTERNAL_TIMEOUT')
  })
})

test('a thread loads the schema compilers at their first use', async () => {
  const counter = await startCounter({ threads: 1 })
  const loaded = async () => (await fetch(`${counter.url}/loaded`)).json() as Promise<string[]>
  const compilers = ['ajv', 'ajv-formats', 'fast-json-stringify']
  expect((await loaded()).filter((name) => compilers.includes(name))).toEqual([])
  const [client] = [...(await connectPerThread(counter.port, 1)).values()]
  await put(client!, 5)
  expect(new Set(await loaded()).intersection(new Set(compilers)).size).toBe(compilers.length)
})

describe('a thread that dies', () => {
  test('returns with the current value, while the others continue', async () => {
    const counter = await startCounter({ threads: 3 })
    const [victim, ...others] = [...(await connectPerThread(counter.port, 3)).values()] as [RawClient, ...RawClient[]]
    await put(others[0]!, 42)
    crash(victim, '/die')
    await victim.closed
    expect(await Promise.all(others.map(readValue))).toEqual([42, 42])
    await waitUntil(async () => (await countRespawned(counter.port)) === 1)
    const now = await connectPerThread(counter.port, 3)
    expect(await Promise.all([...now.values()].map(readValue))).toEqual([42, 42, 42])
  })

  test('knows the changes during its start, and delays no other thread', async () => {
    const appGate = join(createTemporaryFolder(), 'gate')
    writeFileSync(appGate, '')
    const counter = await startCounter({ threads: 2, appGate })
    const [victim, other] = [...(await connectPerThread(counter.port, 2)).values()] as [RawClient, RawClient]
    rmSync(appGate)
    crash(victim, '/die')
    await victim.closed
    await waitUntil(async () => (await countRespawned(counter.port)) === 1)
    // The thread cannot start before these requests have replies.
    for (const value of [1, 2, 3]) await put(other, value)
    writeFileSync(appGate, '')
    const now = await connectPerThread(counter.port, 2)
    expect(await Promise.all([...now.values()].map(readValue))).toEqual([3, 3])
  })

  test('loads its code while main opens the data, and ends if that fails', async () => {
    const loadGate = join(createTemporaryFolder(), 'loaded')
    vi.stubEnv('COUNTER_LOADED', loadGate)
    onTestFinished(() => void vi.unstubAllEnvs())
    const counter = await startCounter({ threads: 2, loadGate })
    expect((await counter.request('GET', '/value')).status).toBe(200)
    const terminate = vi.spyOn(Worker.prototype, 'terminate')
    onTestFinished(() => terminate.mockRestore())
    await expect(startCounter({ threads: 2, failOpen: 'no luck' })).rejects.toThrow('no luck')
    expect(terminate).toHaveBeenCalledTimes(1)
  })

  test('is restarted repeatedly', async () => {
    const counter = await startCounter({ threads: 1 })
    for (let death = 1; death <= 2; death++) {
      const [client] = [...(await connectPerThread(counter.port, 1)).values()]
      crash(client!, '/die')
      await client!.closed
      await waitUntil(() =>
        countRespawned(counter.port).then(
          (count) => count === death,
          () => false,
        ),
      )
    }
  })
})

test('a thread that hangs is replaced, while the others continue', async () => {
  const counter = await startCounter({ threads: 2, watchdogTimeout: 5_000 })
  const [victim, other] = [...(await connectPerThread(counter.port, 2)).values()] as [RawClient, RawClient]
  crash(victim, '/hang')
  let isReplaced = false
  void victim.closed.then(() => (isReplaced = true))
  expect(await readValue(other)).toBe(0)
  expect(isReplaced).toBe(false)
  // A write waits for the stuck thread until its end.
  await put(other, 8)
  await victim.closed
  const now = await connectPerThread(counter.port, 2)
  expect(await Promise.all([...now.values()].map(readValue))).toEqual([8, 8])
})

test('a thread that hangs delays neither the metrics nor the stop for ever', async () => {
  // The watchdog does not replace it.
  const counter = await startCounter({ threads: 2, shutdownTimeout: 300 })
  const [victim, other] = [...(await connectPerThread(counter.port, 2)).values()] as [RawClient, RawClient]
  crash(victim, '/hang')
  other.send(formatRequest('GET', '/metrics'))
  expect((await other.reply()).body).toMatch(/^process_cpu/m)
  expect(await counter.stop()).toBe(false)
})

describe('calls between main and its threads', () => {
  async function post(client: RawClient, path: string): Promise<void> {
    client.send(formatRequest('POST', path))
    expect((await client.reply()).status).toBe(200)
  }

  test('a thread without a reply in time is left out, and its late reply is dropped', async () => {
    const counter = await startCounter({ threads: 3 })
    const clients = await connectPerThread(counter.port, 3)
    const [[name, mute], [, other]] = [...clients] as [[string, RawClient], [string, RawClient]]
    await post(mute, '/mute')
    // On a busy machine, others may take longer than that, too.
    let within = 100
    await waitUntil(async () => {
      const answers = await listThreads(other, (within *= 2))
      expect(answers).not.toContain(Number(name))
      return answers.length === 2
    })
    await post(mute, '/unmute')
    expect(await listThreads(other, 10_000)).toHaveLength(3)
    expect(await countRespawned(counter.port)).toBe(0)
  })

  test('a thread that dies is left out at once', async () => {
    const counter = await startCounter({ threads: 2 })
    const clients = await connectPerThread(counter.port, 2)
    const [[, victim], [name, other]] = [...clients] as [[string, RawClient], [string, RawClient]]
    await post(victim, '/mute')
    const answers = listThreads(other, 3_600_000)
    crash(victim, '/die')
    expect(await answers).toEqual([Number(name)])
  })
})

describe('a service that supports one thread only', () => {
  test('refuses more threads with the reason', async () => {
    await expect(embed(definition, { threads: 2, single: 'it is a list' }, SERVICES_URL)).rejects.toMatchObject({
      code: 'SINGLE_THREAD',
      message: 'counter: a maximum of one serving thread, because it is a list',
    })
  })

  test.each(['auto', '1', '0'])('accepts %s', async (threads) => {
    const counter = await startCounter({ threads, single: 'it is a list' })
    expect(counter.threads).toBe(threads === '0' ? 0 : 1)
  })
})

describe('a start that fails releases everything', () => {
  test.each([0, 2])('a port in use, with %i threads', async (threads) => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await expect(embed(definition, { threads, port }, SERVICES_URL)).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: `127.0.0.1:${port} is in use; choose another with --counter.port`,
    })
  })

  test('a port that another service shares among its threads', async () => {
    const { port } = await startCounter({ threads: 2 })
    await expect(embed(definition, { threads: 2, port }, SERVICES_URL)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  test('threads that cannot start', async () => {
    await expect(embed(definition, { threads: 2 }, 'file:///nowhere.ts')).rejects.toThrow(/nowhere/)
  })

  test('a part that does not open', async () => {
    await expect(embed(definition, { refuseOpen: 'locked' })).rejects.toMatchObject({
      code: 'REFUSED',
      message: 'locked',
    })
  })
})
