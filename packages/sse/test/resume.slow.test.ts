import { EventSource } from 'eventsource'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EventSourceReader } from './support/event-source-reader.ts'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { spawnSse } from './support/sse-process.ts'
import { startSse, type TestSse } from './support/test-sse.ts'
import { openStream, EVENT_SOURCE_HEADERS, VIA_FASTIFY, type TestStream } from './support/test-stream.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

/** A client that loses its stream repeatedly, and resumes after its last event. */
class ResumingClient {
  readonly values: string[] = []
  gaps = 0
  readonly #port: number
  #stream: TestStream | undefined
  #lastEventId = ''

  constructor(port: number) {
    this.#port = port
  }

  async connect(): Promise<void> {
    const headers = { ...EVENT_SOURCE_HEADERS, ...(this.#lastEventId && { 'last-event-id': this.#lastEventId }) }
    const spelling = Math.random() < 0.3 ? VIA_FASTIFY : {}
    this.#stream = await openStream(this.#port, '?topic=fire', { headers, ...spelling })
    if (this.#stream.status !== 200) throw new Error(`${this.#stream.status}`)
    // From its first id on, a client misses no event.
    await waitUntil(() => this.#stream!.reader.lastEventId !== '' || this.#stream!.ended)
  }

  /** Destroys the connection, also in the middle of an event. */
  drop(): void {
    const { socket, reader } = this.#stream!
    socket.removeAllListeners('data')
    socket.destroy()
    this.#take(reader)
    this.#stream = undefined
  }

  get seen(): number {
    return this.values.length + (this.#stream?.values.length ?? 0)
  }

  #take(reader: EventSourceReader): void {
    for (const { type, data } of reader.events) {
      if (type === 'gap') this.gaps++
      else this.values.push(data)
    }
    this.#lastEventId = reader.lastEventId || this.#lastEventId
  }
}

const CLIENT_COUNT = 200
/** Number of lost streams, of all clients together. */
const LOSS_COUNT = 100

async function connectAll(port: number): Promise<ResumingClient[]> {
  const clients = Array.from({ length: CLIENT_COUNT }, () => new ResumingClient(port))
  for (let i = 0; i < CLIENT_COUNT; i += 50)
    await Promise.all(clients.slice(i, i + 50).map((client) => client.connect()))
  return clients
}

/** Puts values one after another until the returned function is called, which resolves with their number. */
function startFire(sse: TestSse): () => Promise<number> {
  let stopped = false
  const done = (async () => {
    let sent = 0
    while (!stopped) await sse.put(String(sent++), 'fire')
    return sent
  })()
  return () => {
    stopped = true
    return done
  }
}

async function expectAll(clients: readonly ResumingClient[], sent: number): Promise<void> {
  const expected = Array.from({ length: sent }, (_, i) => String(i))
  for (const client of clients) {
    await waitUntil(() => client.seen >= sent)
    client.drop()
    expect(client.gaps).toBe(0)
    expect(client.values).toEqual(expected)
  }
}

describe('200 clients that lose their streams at random moments while values are put', () => {
  it.each([
    { broker: 'local', threads: 0, history: 'ring' },
    { broker: 'threads', threads: 3, history: 'ring' },
    { broker: 'threads', threads: 3, history: 'level' },
  ])('get every value once and in order: %o', async (settings) => {
    const wide = { historyCount: 100_000, historyBytes: 100_000_000 }
    const sse = await startSse({ ...settings, ...wide, data: createTemporaryFolder() })
    const clients = await connectAll(sse.port)
    const cease = startFire(sse)
    for (let i = 0; i < LOSS_COUNT; i++) {
      const client = clients[Math.floor(Math.random() * CLIENT_COUNT)]!
      client.drop()
      await client.connect()
    }
    await expectAll(clients, await cease())
  })

  it('get every value once and in order over restarts of the process, by SIGKILL or SIGTERM', async () => {
    const data = createTemporaryFolder()
    const port = await findFreePort()
    const args = { port, data, history: 'level', threads: 2, historyCount: 100_000 }
    let server = await spawnSse(args)
    const clients = await connectAll(port)
    let sent = 0
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      for (let i = 0; i < 100; i++) await server.sse.put(String(sent++), 'fire')
      await server.end(signal)
      for (const client of clients) client.drop()
      server = await spawnSse(args)
      // Values are put before the clients reconnect, and meanwhile.
      await server.sse.put(String(sent++), 'fire')
      const back = Promise.all(clients.map((client) => client.connect()))
      for (let i = 0; i < 20; i++) await server.sse.put(String(sent++), 'fire')
      await back
    }
    await expectAll(clients, sent)
  })
})

describe("npm's eventsource", () => {
  it('connects, receives values, and resumes after a restart', async () => {
    const args = { port: await findFreePort(), data: createTemporaryFolder(), history: 'level', retry: 50 }
    let server = await spawnSse(args)
    const values: string[] = []
    const source = new EventSource(`${server.sse.url}/wait?cid=npm&topic=t`)
    onTestFinished(() => source.close())
    source.addEventListener('message', ({ data }) => values.push(data))
    source.addEventListener('gap', () => values.push('gap'))
    await waitUntil(() => source.readyState === source.OPEN)
    await server.sse.put('1', 't')
    await waitUntil(() => values.length === 1)
    await server.end('SIGKILL')
    server = await spawnSse(args)
    await server.sse.put('2', 't')
    await waitUntil(() => values.length === 2)
    await server.sse.put('3', 't')
    await waitUntil(() => values.length === 3)
    expect(values).toEqual(['1', '2', '3'])
    // After 204 it does not reconnect.
    await server.sse.request('GET', '/closeall')
    await waitUntil(() => source.readyState === source.CLOSED)
  })
})
