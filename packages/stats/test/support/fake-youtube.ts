import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Response of a call. */
export type YoutubeHandler = (ids: readonly string[], reply: ServerResponse) => unknown

/** A YouTube whose responses a test defines. */
export interface FakeYoutube {
  readonly url: string
  /** Ids of every call, in order of arrival. */
  readonly calls: string[][]
  handler: YoutubeHandler
}

const item = (id: string, views: number) => ({
  id,
  statistics: { viewCount: String(views), likeCount: '10', commentCount: '5' },
})

/** The numbers of every video: `views`, 10 likes and 5 comments. */
export const listOf = (ids: readonly string[], views = 100) =>
  JSON.stringify({ kind: 'youtube#videoListResponse', items: ids.map((id) => item(id, views)) })

export const numbers: YoutubeHandler = (ids, reply) => reply.end(listOf(ids))
export const failing: YoutubeHandler = (_, reply) => reply.writeHead(503).end('{}')
export const hanging: YoutubeHandler = () => {}

/** Sends a byte every few milliseconds, without end. */
export const dripping: YoutubeHandler = (_, reply) => {
  const timer = setInterval(() => reply.write(' '), 10)
  reply.writeHead(200).once('close', () => clearInterval(timer))
}

/** Sends as fast as the client reads, without end. */
export const flooding: YoutubeHandler = (_, reply) => {
  const piece = Buffer.alloc(65_536, ' ')
  const send = () => {
    while (!reply.destroyed && reply.write(piece));
  }
  reply.writeHead(200).on('drain', send)
  send()
}

export async function startFakeYoutube(): Promise<FakeYoutube> {
  const server = createServer((request, reply) => {
    const ids = new URL(request.url!, 'http://fake').searchParams.getAll('id').join(',').split(',')
    fake.calls.push(ids)
    fake.handler(ids, reply)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const fake: FakeYoutube = { url: `http://127.0.0.1:${port}`, calls: [], handler: numbers }
  return fake
}

/** Returns `n` well-formed ids of videos. */
export const videoIds = (n: number, from = 0) =>
  Array.from({ length: n }, (_, i) => `${String(from + i).padStart(10, '0')}A`)
