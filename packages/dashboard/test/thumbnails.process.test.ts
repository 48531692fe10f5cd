import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TOKENS, VIDEO } from './support/start-dashboard.ts'
import { sendRequest, startStack } from './support/test-stack.ts'

const otherVideo = '-4lB5EKS5Uk'
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3])

async function startSource(handler: RequestListener) {
  const calls: string[] = []
  const server = createServer((request, reply) => {
    calls.push(request.url!)
    handler(request, reply)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

it('a user gets the pictures of the stand-in through the dashboard', async () => {
  const { url } = await startStack()
  const reply = await fetch(`${url}/thumbnails/${VIDEO}`)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('image/png')
  expect(reply.headers.get('cache-control')).toBe('private, max-age=86400')
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
  const bytes = Buffer.from(await reply.arrayBuffer())
  expect(bytes.subarray(1, 4).toString()).toBe('PNG')
  const again = Buffer.from(await (await fetch(`${url}/thumbnails/${otherVideo}`)).arrayBuffer())
  expect(again.equals(bytes)).toBe(false)
})

it('a user gets the pictures of channels, from hosts of YouTube only', async () => {
  const source = await startSource((_, reply) => reply.setHeader('content-type', 'image/png').end(PNG))
  const { url } = await startStack({ dashboard: { thumbnailUri: source.url } })
  const paths = ['yt3.ggpht.com/ytc/a_B-1=s240-c-k', 'yt3.googleusercontent.com/x=s88', 'lh3.googleusercontent.com/a/b']
  for (const path of paths) expect((await fetch(`${url}/thumbnails/channels/${path}`)).status).toBe(200)
  expect(source.calls).toEqual(['/ytc/a_B-1=s240-c-k', '/x=s88', '/a/b'])
  for (const path of [
    'evil.test/a',
    'yt3.ggpht.com.evil.test/a',
    'yt3.ggpht.com@evil.test/a',
    'yt3.ggpht.com:80/a',
    'yt3.ggpht.com/a%3Fb',
    'yt3.ggpht.com%2F%2Fevil.test',
    'yt3.ggpht.com',
    'x.ggpht.com/a',
    `yt3.ggpht.com/${'a'.repeat(500)}`,
  ])
    expect([path, (await fetch(`${url}/thumbnails/channels/${path}`)).status]).toEqual([path, 404])
  expect(source.calls).toHaveLength(3)
})

describe('a reply of the source', () => {
  const replies: readonly (readonly [string, RequestListener])[] = [
    ['that is SVG', (_, reply) => reply.setHeader('content-type', 'image/svg+xml').end('<svg/>')],
    ['that is HTML', (_, reply) => reply.setHeader('content-type', 'text/html').end('<p>')],
    ['without a type', (_, reply) => reply.end(PNG)],
    ['that is too large', (_, reply) => reply.setHeader('content-type', 'image/png').end(Buffer.alloc(204_801))],
    ['that is empty', (_, reply) => reply.setHeader('content-type', 'image/png').end()],
    ['404', (_, reply) => reply.writeHead(404, { 'content-type': 'image/jpeg' }).end(PNG)],
    ['500', (_, reply) => reply.writeHead(500).end()],
    ['that is cut off', (_, reply) => reply.writeHead(200, { 'content-length': '9' }).end('x')],
  ]
  it.each(replies)('%s is no picture', async (_, handler) => {
    const source = await startSource(handler)
    const { url } = await startStack({ dashboard: { thumbnailUri: source.url } })
    expect(await sendRequest(`${url}/thumbnails/${VIDEO}`)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    expect(source.calls).toEqual([`/vi/${VIDEO}/mqdefault.jpg`])
  })

  it('that is a redirect is not followed', async () => {
    const target = await startSource((_, reply) => reply.setHeader('content-type', 'image/png').end(PNG))
    const source = await startSource((request, reply) =>
      reply.writeHead(302, { location: target.url + request.url }).end(),
    )
    const { url } = await startStack({ dashboard: { thumbnailUri: source.url } })
    expect((await sendRequest(`${url}/thumbnails/${VIDEO}`)).status).toBe(404)
    expect(target.calls).toEqual([])
  })
})

it('only ids of videos reach the source', async () => {
  const source = await startSource((_, reply) => reply.setHeader('content-type', 'image/png').end(PNG))
  const { url } = await startStack({ dashboard: { thumbnailUri: source.url } })
  for (const id of ['x', '..%2f..%2fadmin', 'aaaaaaaaaa%2f', '%40evil.test', 'aaaaaaaaaaaa', 'aaaaa%3faaaaa', '%ff'])
    expect((await sendRequest(`${url}/thumbnails/${id}`)).status).toBeGreaterThanOrEqual(400)
  expect(source.calls).toEqual([])
})

it('a client gets the pictures of its campaign only, and nobody gets any without a token', async () => {
  const { url, stats } = await startStack({ all: TOKENS })
  await stats.put('shared', { videos: [VIDEO] })
  const headers = { authorization: `Bearer ${TOKENS.apiToken}` }
  const link = await sendRequest(`${url}/links`, 'POST', { headers, body: { campaign: 'shared', days: 1 } })
  const base = `${url}${link.body.path}`
  expect((await sendRequest(`${base}/thumbnails/${VIDEO}`)).status).toBe(200)
  expect((await sendRequest(`${base}/thumbnails/${otherVideo}`)).status).toBe(404)
  expect(await sendRequest(`${base}x/thumbnails/${VIDEO}`)).toMatchObject({ body: { code: 'LINK_UNKNOWN' } })
  const channel = '/thumbnails/channels/yt3.ggpht.com/ytc/stand-in-1=s240-c'
  for (const path of [`/thumbnails/${VIDEO}`, channel])
    expect(await sendRequest(url + path)).toMatchObject({ body: { code: 'SIGN_IN_NEEDED' } })
  expect((await sendRequest(url + channel, 'GET', { headers })).status).toBe(200)
  expect((await sendRequest(base + channel)).status).toBe(404)
  for (const token of Object.values(TOKENS))
    expect(
      (await sendRequest(`${url}/thumbnails/${VIDEO}`, 'GET', { headers: { authorization: `Bearer ${token}` } }))
        .status,
    ).toBe(200)
  await stats.delete('shared')
  expect(await sendRequest(`${base}/thumbnails/${VIDEO}`)).toMatchObject({ body: { code: 'LINK_EXPIRED' } })
})
