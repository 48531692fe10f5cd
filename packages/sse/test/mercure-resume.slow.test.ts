import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { HUB, createMercureClient } from './support/mercure-client.ts'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { spawnSse } from './support/sse-process.ts'
import { EVENT_SOURCE_HEADERS, openStream, type TestStream } from './support/test-stream.ts'
import { toBearerHeader, MERCURE, signAll } from './support/sign-tokens.ts'

const CLIENT_COUNT = 200
const TOPIC = 'https://x.example/fire'

/** A Mercure client that loses its stream and resumes. Half of the clients may read private updates. */
class ResumingClient {
  readonly values: string[] = []
  /** Ids of requests and replies where a reply reported a loss. */
  readonly gaps: string[] = []
  readonly mayReadAll: boolean
  readonly #port: number
  readonly #headers: Readonly<Record<string, string>>
  readonly #query: string
  #stream: TestStream | undefined
  #lastEventId = ''

  constructor(port: number, resumedAt: number, token: string) {
    this.#port = port
    this.mayReadAll = resumedAt % 2 === 0
    this.#headers = this.mayReadAll ? toBearerHeader(token) : {}
    this.#query = ['?match=https://x.example/fire', '?match_urlpattern=https://x.example/:any', '?match=*'][
      resumedAt % 3
    ]!
  }

  async connect(): Promise<void> {
    const id = this.#lastEventId
    const byHeader = id !== '' && Math.random() < 0.5
    const query = id !== '' && !byHeader ? `&last_event_id=${encodeURIComponent(id)}` : ''
    const headers = { ...EVENT_SOURCE_HEADERS, ...this.#headers, ...(byHeader && { 'last-event-id': id }) }
    this.#stream = await openStream(this.#port, this.#query + query, { path: HUB, headers })
    if (this.#stream.status !== 200) throw new Error(`${this.#stream.status}`)
    const resumeHeader = this.#stream.headers['mercure-last-event-id'] ?? ''
    if (resumeHeader !== id) this.gaps.push(`${id} ${resumeHeader}`)
    await waitUntil(() => this.#stream!.reader.lastEventId !== '' || this.#stream!.ended)
  }

  drop(): void {
    const { socket, reader } = this.#stream!
    socket.removeAllListeners('data')
    socket.destroy()
    for (const { data } of reader.events) this.values.push(data)
    this.#lastEventId = reader.lastEventId || this.#lastEventId
    this.#stream = undefined
  }

  get seen(): number {
    return this.values.length + (this.#stream?.values.length ?? 0)
  }
}

describe('200 clients that drop and resume with the Mercure protocol, on 3 threads, over a restart', () => {
  async function run(history: 'ring' | 'level', drops: number) {
    const args = {
      ...MERCURE,
      mercureAnonymous: 'on',
      port: await findFreePort(),
      data: createTemporaryFolder(),
      history,
      threads: 3,
      historyCount: 100_000,
    }
    let server = await spawnSse(args)
    const token = await signAll()
    const clients = Array.from({ length: CLIENT_COUNT }, (_, i) => new ResumingClient(args.port, i, token))
    const connectAll = async () => {
      for (let i = 0; i < CLIENT_COUNT; i += 50)
        await Promise.all(clients.slice(i, i + 50).map((client) => client.connect()))
    }
    await connectAll()
    let sent = 0
    const fire = async (count: number) => {
      for (let i = 0; i < count; i++, sent++) {
        await createMercureClient(server.sse).publish(
          token,
          TOPIC,
          String(sent),
          ...(sent % 3 === 0 ? [['private', ''] as const] : []),
          ...(sent % 2 === 0 ? [['id', `urn:x:${sent}`] as const] : []),
        )
      }
    }
    const firing = fire(60)
    for (let i = 0; i < drops; i++) {
      const client = clients[Math.floor(Math.random() * CLIENT_COUNT)]!
      client.drop()
      await client.connect()
    }
    await firing
    const shouldHave = (client: ResumingClient, from = 0) =>
      Array.from({ length: sent - from }, (_, i) => from + i)
        .filter((i) => client.mayReadAll || i % 3 !== 0)
        .map(String)
    for (const client of clients) await waitUntil(() => client.seen >= shouldHave(client).length)
    for (const client of clients) client.drop()
    await server.end('SIGKILL')
    server = await spawnSse(args)
    const before = sent
    await fire(5)
    await Promise.all([connectAll(), fire(10)])
    return { clients, before, shouldHave }
  }

  it('get everything that they may read, once and in order, if the history is on disk', async () => {
    const { clients, shouldHave } = await run('level', 100)
    for (const client of clients) {
      const expected = shouldHave(client)
      await waitUntil(() => client.seen >= expected.length)
      client.drop()
      expect(client.gaps).toEqual([])
      expect(client.values).toEqual(expected)
    }
  })

  it('get a report of the loss if the history is in memory, and all stored updates once and in order', async () => {
    const { clients, before, shouldHave } = await run('ring', 20)
    for (const client of clients) {
      const expected = shouldHave(client)
      await waitUntil(() => client.seen >= expected.length)
      client.drop()
      expect(client.gaps).toHaveLength(1)
      expect(client.values).toEqual(expected)
    }
    expect(before).toBe(60)
  })
})
