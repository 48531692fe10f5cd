import type { IncomingMessage, ServerResponse } from 'node:http'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { sendRequest, startStack } from './support/test-stack.ts'
import { UNREACHABLE_URL, serve } from './support/fake-service.ts'
import { startDashboard, VIDEO } from './support/start-dashboard.ts'

describe('a request from a page to a service', () => {
  it('is forwarded unchanged, as is its reply, refusals included; other routes and services are refused', async () => {
    const { url } = await startStack()
    const collection = `${url}/api/stats/collections/a`
    expect((await sendRequest(collection, 'PUT', { body: { videos: [VIDEO] } })).status).toBe(201)
    expect((await sendRequest(collection)).body).toMatchObject({ id: 'a', videos: [VIDEO] })
    expect((await sendRequest(`${url}/api/stats/collections/none`)).body.code).toBe('COLLECTION_NOT_FOUND')
    expect((await sendRequest(collection, 'PUT', { body: { videos: ['nonsense'] } })).body.code).toBe(
      'VALIDATION_FAILED',
    )
    // stats refreshes its numbers continuously. A retry finds a moment without a refresh between the two replies.
    await waitUntil(async () => {
      const sums = await sendRequest(`${collection}/stats`)
      const known = { headers: { 'if-none-match': sums.headers.get('etag')! } }
      return (await sendRequest(`${collection}/stats`, 'GET', known)).status === 304
    })
    expect((await sendRequest(`${collection}/videos/${VIDEO}`, 'DELETE')).status).toBe(204)
    expect((await sendRequest(`${url}/api/sse/put?v=1`, 'POST')).body.code).toBe('ROUTE_REFUSED')
    expect((await sendRequest(`${url}/api/youtube/metrics`)).body.code).toBe('SERVICE_UNKNOWN')
    expect((await sendRequest(`${url}/api/prices/metrics`)).body.code).toBe('SERVICE_UNKNOWN')
  })

  it('forwards conditions to stats, and returns refusals with the current ETag', async () => {
    const { url } = await startStack()
    const collection = `${url}/api/stats/collections/a`
    const made = await sendRequest(collection, 'PUT', { headers: { 'if-none-match': '*' }, body: { videos: [VIDEO] } })
    const ifMatch = (etag: string) => ({ headers: { 'if-match': etag }, body: { name: 'Spring' } })
    const renamed = await sendRequest(collection, 'PATCH', ifMatch(made.headers.get('etag')!))
    expect([made.status, renamed.status]).toEqual([201, 200])
    for (const [method, path] of [
      ['PATCH', collection],
      ['DELETE', collection],
      ['PUT', `${collection}/videos/${VIDEO}`],
      ['DELETE', `${collection}/videos/${VIDEO}`],
    ] as const) {
      const { headers, body } = ifMatch(made.headers.get('etag')!)
      const refused = await sendRequest(path, method, { headers, ...(method === 'PATCH' && { body }) })
      expect(refused).toMatchObject({ status: 412, body: { code: 'CONDITION_FAILED' } })
      expect(refused.headers.get('etag')).toBe(renamed.headers.get('etag'))
    }
    const again = await sendRequest(collection, 'PUT', { headers: { 'if-none-match': '*' }, body: { videos: [] } })
    expect(again.status).toBe(412)
  })

  it('fails in time if a service is unavailable or slow, without details of the failure', async () => {
    const slow = await serve(() => {})
    const { url } = await startDashboard(slow, { serviceTimeout: 50 })
    expect((await sendRequest(`${url}/api/stats/collections`)).body.code).toBe('SERVICE_SLOW')
    const unreachable = await startDashboard(UNREACHABLE_URL)
    const { body, text } = await sendRequest(`${unreachable.url}/api/stats/collections`)
    expect(body.code).toBe('SERVICE_UNREACHABLE')
    expect(text).not.toMatch(/127|ECONN/)
  })

  it('goes to another node if one does not answer, except a change that may have been made', async () => {
    const requests: string[] = []
    const cuts = await serve(({ method, socket }) => {
      requests.push(`${method} cut`)
      socket.destroy()
    })
    const whole = await serve(({ method }, response) => {
      requests.push(`${method} whole`)
      response.end('{}')
    })
    const before = async (statsUri: string) => `${(await startDashboard(UNREACHABLE_URL, { statsUri })).url}/api/stats`
    // The refused change was not applied.
    const closed = await before(`${UNREACHABLE_URL},${UNREACHABLE_URL},${whole}`)
    expect((await sendRequest(`${closed}/collections/a`, 'PUT', { body: {} })).status).toBe(200)
    const reading = await before(`${cuts},${whole}`)
    expect((await sendRequest(`${reading}/collections`)).status).toBe(200)
    expect((await sendRequest(`${reading}/collections`)).status).toBe(200)
    expect(requests.splice(0)).toEqual(['PUT whole', 'GET cut', 'GET whole', 'GET whole'])
    const changing = await before(`${cuts},${whole}`)
    expect((await sendRequest(`${changing}/collections/a`, 'PUT', { body: {} })).body.code).toBe('SERVICE_UNREACHABLE')
    expect((await sendRequest(`${changing}/collections/a`, 'PUT', { body: {} })).status).toBe(200)
    expect(requests.splice(0)).toEqual(['PUT cut', 'PUT whole'])
    const none = await before(`${UNREACHABLE_URL},${UNREACHABLE_URL}`)
    expect((await sendRequest(`${none}/collections`)).body.code).toBe('SERVICE_UNREACHABLE')
  })

  it('goes only to the named node', async () => {
    const whole = await serve((_request, response) => void response.end('{}'))
    const { url } = await startDashboard(whole, { statsUri: `${UNREACHABLE_URL},${whole}` })
    expect((await sendRequest(`${url}/session`)).body.nodes).toEqual(['stats.1', 'stats.2', 'sse'])
    expect((await sendRequest(`${url}/api/stats.1/readyz`)).body.code).toBe('SERVICE_UNREACHABLE')
    expect((await sendRequest(`${url}/api/stats.2/readyz`)).status).toBe(200)
    for (const name of ['stats.0', 'stats.3', 'sse.2'])
      expect((await sendRequest(`${url}/api/${name}/readyz`)).body.code).toBe('SERVICE_UNKNOWN')
    expect((await sendRequest(`${url}/api/stats.2/elsewhere`)).body.code).toBe('ROUTE_REFUSED')
  })

  it('has a maximum size, and cookies of this origin are not forwarded', async () => {
    let seen: IncomingMessage | undefined
    const service = await serve((request, response) => {
      seen = request
      response.setHeader('set-cookie', 'a=1').setHeader('content-type', 'application/json').end('{}')
    })
    const { url } = await startDashboard(service, { bodyLimit: 1_000 })
    const body = { videos: Array.from({ length: 100 }, () => VIDEO) }
    expect((await sendRequest(`${url}/api/stats/collections/a`, 'PUT', { body })).body.code).toBe('BODY_TOO_LARGE')
    expect(seen).toBeUndefined()
    const reply = await sendRequest(`${url}/api/stats/collections`, 'GET', {
      headers: { cookie: 'a=b', 'x-other': '1' },
    })
    expect(seen!.headers).not.toMatchObject({ cookie: 'a=b' })
    expect(seen!.headers['x-other']).toBeUndefined()
    expect(reply.headers.get('set-cookie')).toBeNull()
  })

  it('streams its reply from the last event id, and ends at the service when the page leaves', async () => {
    const streams: { request: IncomingMessage; response: ServerResponse }[] = []
    const service = await serve((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: a-1\n\n')
      streams.push({ request, response })
    })
    const { url, stop } = await startDashboard(service, { maxStreams: 2 })
    const leaving = new AbortController()
    const open = (signal?: AbortSignal) =>
      fetch(`${url}/api/sse/wait?match=*&lastEventId=a-0`, {
        headers: { 'last-event-id': 'a-0' },
        signal: signal ?? null,
      })
    const reader = (await open(leaving.signal)).body!.getReader()
    const read = async (from = reader) => Buffer.from((await from.read()).value ?? '').toString()
    expect(await read()).toBe('id: a-1\n\n')
    expect(streams[0]!.request.url).toBe('/wait?match=*&lastEventId=a-0')
    expect(streams[0]!.request.headers['last-event-id']).toBe('a-0')
    streams[0]!.response.write('data: 1\n\n')
    expect(await read()).toBe('data: 1\n\n')

    const other = (await open()).body!.getReader()
    expect(await read(other)).toBe('id: a-1\n\n')
    expect(await (await open()).json()).toMatchObject({ code: 'TOO_MANY_STREAMS' })
    leaving.abort()
    await waitUntil(() => streams[0]!.response.destroyed && streams[2]!.response.destroyed)
    // A service that stops ends its streams, so that no client waits for them.
    expect(await stop()).toBe(true)
    expect(await read(other)).toBe('')
    await waitUntil(() => streams[1]!.response.destroyed)
  })
})
