import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { saveBackup } from '../src/backup/save-backup.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const packages = new URL('../../', import.meta.url)
const TOKEN = 'for-changes'

async function serve(respond: RequestListener): Promise<string> {
  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

/** Requests that reached the target of a redirect. */
let followed: string[] = []
let url = ''

beforeEach(async () => {
  followed = []
  const target = await serve(({ method, headers }, response) => {
    followed.push(`${method} ${headers.authorization}`)
    response.setHeader('content-type', 'application/json').end('{}')
  })
  let status = 301
  // Alternately: a redirect that preserves the method, and one within the origin, where `fetch` would send the token.
  url = await serve((request, response) => {
    request.resume()
    if (request.url === '/moved') {
      followed.push(`${request.method} ${request.headers.authorization}`)
      response.end('{}')
      return
    }
    status = status === 301 ? 307 : 301
    response.writeHead(status, { location: status === 301 ? target : '/moved' }).end()
  })
})

const load = (name: string) => import(new URL(`${name}/src/client.ts`, packages).href)

/** A read and a change of each client. */
const REQUESTS: Readonly<Record<string, () => Promise<readonly (() => Promise<unknown>)[]>>> = {
  async stats() {
    const client = (await load('stats')).createStatsClient(url, { token: TOKEN })
    return [() => client.getStats('a'), () => client.put('a', { videos: [] })]
  },
  async prices() {
    const client = (await load('prices')).createPricesClient(url, { token: TOKEN })
    return [() => client.get('a'), () => client.delete('a')]
  },
  async sse() {
    const client = (await load('sse')).createSseClient(url, { token: TOKEN })
    return [
      () => client.getConnections(),
      () => client.closeAll(),
      () => Array.fromAsync(client.subscribe({ topics: ['a'] })),
    ]
  },
  async 'the publisher of sse'() {
    const { createPublisherClient } = await import(new URL('sse/src/publisher-client.ts', packages).href)
    const client = createPublisherClient(url, { token: TOKEN })
    onTestFinished(() => client.close())
    return [() => client.put('a', '1'), () => client.putValues([{ topic: 'a', value: '1' }])]
  },
  async kv() {
    const client = (await load('kv')).createKvClient(url, { token: TOKEN })
    onTestFinished(() => client.close())
    return [() => client.get('a'), () => client.put('a', '1')]
  },
  async youtube() {
    const client = (await load('youtube')).createControl(url, { token: TOKEN })
    return [() => client.getCounts(), () => client.clearFaults()]
  },
  async backup() {
    const file = join(createTemporaryFolder(), 'a.backup')
    return [() => saveBackup(url, TOKEN, file), () => saveBackup(url, TOKEN, file)]
  },
}

it.each(Object.keys(REQUESTS))('%s follows no redirect, so that its token goes to no other address', async (name) => {
  for (const request of await REQUESTS[name]!()) {
    const error = await request().then(
      () => undefined,
      (fault: unknown) => fault,
    )
    expect(error).toMatchObject({ name: 'ServiceError', code: 'UNEXPECTED_REDIRECT' })
    expect((error as Error).message).toMatch(/redirect/)
  }
  expect(followed).toEqual([])
})
