import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { PREPARATION_TIMEOUT_MS } from '@influencer-stats/runtime/testing/third-party-client'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { sendByFetch } from './clients/client-program.ts'
import { CLIENTS, ClientProgram, type ClientReader } from './support/client-programs.ts'
import { HUB } from './support/mercure-client.ts'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { spawnSse } from './support/sse-process.ts'

// Clients that others wrote, unchanged, at the two routes with streams. README lists their versions.

const SECRET = '!ChangeThisMercureHubJWTSecretKey!'
const TOPIC = 'https://x.example/news/1'
/** No byte follows a value within the test, so a client that waits for a full buffer does not get the value. */
const NO_HEARTBEAT = 3_600_000
const HEARTBEAT_MS = 50

/** Waits until both streams have received a number of messages. */
async function waitForMessages(readers: readonly ClientReader[], count: number): Promise<void> {
  await waitUntil(() => {
    for (const reader of readers) reader.checkAlive()
    return readers.every(({ messages }) => messages.length >= count)
  })
}

describe.each(CLIENTS)('$name', (client) => {
  let program: ClientProgram

  beforeAll(async () => {
    program = await ClientProgram.find(client)
  }, PREPARATION_TIMEOUT_MS)

  it('sends, gets each value at once and exactly once over a restart and a kill, and nothing else', async () => {
    const port = await findFreePort()
    const start = (settings: Readonly<Record<string, string | number>> = {}) =>
      spawnSse({
        port,
        data,
        history: 'level',
        retry: 100,
        heartbeat: NO_HEARTBEAT,
        mercureCompatibility: '8',
        mercureAnonymous: 'on',
        mercurePublisherJwtKey: SECRET,
        mercureSubscriberJwtKey: SECRET,
        ...settings,
      })
    const data = createTemporaryFolder()
    const jwt = await new SignJWT({ mercure: { publish: ['*'] } })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(Buffer.from(SECRET))
    const sent: { id: string; event: string; data: string }[] = []
    const note = (id: string, text: string) => sent.push({ id: id.replace('#', ''), event: 'message', data: text })

    let server = await start()
    const { url } = server.sse
    const put = async (text: string) => note(await sendByFetch(`${server.sse.url}/put`, TOPIC, text, jwt), text)
    const readers = [program.read(`${url}/wait`, 'another', TOPIC), program.read(url + HUB, 'another', TOPIC)]
    await waitUntil(async () => {
      for (const reader of readers) reader.checkAlive()
      return (await server.sse.readMetric('sse_streams')) === 2
    })
    const first = 'first: "é😀\u2028"\n\n second line'
    note(await program.send(`${url}/put`, TOPIC, first, jwt), first)
    await waitForMessages(readers, 1)
    const second = 'second & <last>'
    note(await program.send(url + HUB, TOPIC, second, jwt), second)
    await waitForMessages(readers, 2)

    // While the client is away, two values arrive.
    await server.end('SIGTERM')
    server = await start({ port: 0 })
    await put('missed 1')
    await put('missed 2')
    await server.end('SIGTERM')
    server = await start({ heartbeat: HEARTBEAT_MS })
    await waitForMessages(readers, 4)
    const witness = await server.sse.open(`?topic=${TOPIC}`)
    await waitUntil(() => witness.reader.comments >= 5)
    await put('after heartbeats')
    await waitForMessages(readers, 5)

    await server.end('SIGKILL')
    server = await start({ heartbeat: HEARTBEAT_MS })
    await put('after a kill')
    await waitForMessages(readers, 6)
    const last = await server.sse.open(`?topic=${TOPIC}`)
    await waitUntil(() => last.reader.comments >= 5)

    for (const { messages, cutBlocks } of readers) {
      // Each stream was ended twice.
      expect(cutBlocks).toBeLessThanOrEqual(2)
      expect(messages.map((message) => ({ ...message, id: message.id.replace('#', '') }))).toEqual(sent)
    }
  })
})
