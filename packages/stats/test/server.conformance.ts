import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SAMPLE_TOTALS, SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { startStats, type TestStats } from './support/stats.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

/** Conformance suite of every server adapter: the hottest route behaves the same with each. */
export function testServer(server: string): void {
  describe(`server ${server}`, () => {
    let standIn: TestStandIn
    let stats: TestStats
    const path = '/collections/c/stats'

    beforeAll(async () => {
      standIn = await startStandIn()
      const settings = {
        server,
        youtubeUri: standIn.url,
        data: createTemporaryFolder(),
        readToken: 'read',
        apiToken: 'change',
        corsOrigins: 'https://app.example',
      }
      stats = await startStats(settings)
      await stats.put('/collections/c', { videos: SAMPLE_VIDEOS }, { authorization: 'Bearer change' })
      await get(path)
    })
    afterAll(async () => {
      await stats.stop()
      await standIn.stop()
    })

    const get = (url: string, headers: Record<string, string> = {}) =>
      stats.get(url, { authorization: 'Bearer read', ...headers })

    it('refuses a request without a Host as a problem', async () => {
      const socket = connect(Number(new URL(stats.url).port), '127.0.0.1')
      socket.end(`GET ${path} HTTP/1.1\r\n\r\n`)
      const reply = await text(socket)
      expect(reply).toMatch(/^HTTP\/1.1 400 /)
      expect(reply).toContain('"code":"HOST_MISSING"')
    })

    it('answers with the numbers, their age, an ETag and a request id', async () => {
      const { status, headers, body } = await get(path)
      expect(status).toBe(200)
      expect(body).toEqual({ ...SAMPLE_TOTALS, asOf: expect.any(String), stale: false, source: standIn.url })
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(headers.get('age')).toMatch(/^\d+$/)
      expect(headers.get('etag')).toMatch(/^"[\w-]{27}"$/)
      expect(headers.get('cache-control')).toBe('no-cache')
      expect(headers.get('x-request-id')).toMatch(/^[a-z0-9]+-[a-z0-9]+$/)
      expect((await get(path)).headers.get('x-request-id')).not.toBe(headers.get('x-request-id'))
    })

    it('answers 304 without a body to a client with the current numbers, also in a list of tags and weakly', async () => {
      const etag = (await get(path)).headers.get('etag')!
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const { status, headers, body } = await get(path, { 'if-none-match': known })
        expect(status).toBe(304)
        expect(body).toBe('')
        expect(headers.get('etag')).toBe(etag)
      }
      expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200)
    })

    it('refuses a request without a token or with a wrong one', async () => {
      expect(await stats.get(path)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      expect(await get(path, { authorization: 'Bearer wrong' })).toMatchObject({ status: 401 })
      expect(await get(path, { authorization: 'Bearer change' })).toMatchObject({ status: 200 })
    })

    it('answers HEAD with the same head and no body', async () => {
      const head = await fetch(stats.url + path, { method: 'HEAD', headers: { authorization: 'Bearer read' } })
      expect(head.status).toBe(200)
      expect(Number(head.headers.get('content-length'))).toBeGreaterThan(100)
      expect(await head.text()).toBe('')
    })

    it('answers 404 for a collection that does not exist, 400 for an invalid id and for an unknown parameter', async () => {
      expect(await get('/collections/none/stats')).toMatchObject({
        status: 404,
        body: { code: 'COLLECTION_NOT_FOUND' },
      })
      expect(await get('/collections/no!id/stats')).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
      expect(await get(`${path}?by=views`)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
      expect(await get(`${path}?by=video`)).toMatchObject({ status: 200, body: { byVideo: expect.any(Array) } })
    })

    it('lets a page of a named origin read the numbers, and no other page', async () => {
      // Not fetch: it sets Origin itself.
      const sendRequest = (origin: string) =>
        request(stats.url + path, { headers: { origin, authorization: 'Bearer read' } })
      const allowed = await sendRequest('https://app.example')
      expect(allowed.headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example',
        'x-request-id': expect.any(String),
      })
      expect(await allowed.body.json()).toMatchObject(SAMPLE_TOTALS)
      const other = await sendRequest('https://other.example')
      expect(other.headers['access-control-allow-origin']).toBeUndefined()
      await other.body.dump()
    })

    it('counts every request once', async () => {
      const count = async () => {
        const { body } = await get('/metrics')
        const lines = String(body).split('\n')
        const line = lines.find((one) => /_count\{.*\/stats".*status="200"/.test(one) && one.includes('method="GET"'))
        return Number(line?.split(' ').at(-1))
      }
      const before = await count()
      await Promise.all(Array.from({ length: 10 }, () => get(path)))
      expect((await count()) - before).toBe(10)
    })
  })
}
