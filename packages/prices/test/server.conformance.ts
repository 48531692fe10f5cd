import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Searcher } from '../src/search/searcher.ts'
import { createPrice, toSearch, startPrices, type TestPrices } from './support/prices.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const PATH = '/v1/search/bitmap/prices'
const BODY_LIMIT = 200_000

/** The requirements for every server adapter on the hottest route. */
export function testPricesServer(server: string): void {
  describe(`server ${server}`, () => {
    const price = createPrice({ charValues: [{ char: 'term', value: '12' }], value: 9.5 })
    const answer = { id: price.id, spec: 'MRC', value: 9.5, currency: 'USD' }
    let prices: TestPrices

    beforeAll(async () => {
      prices = await startPrices({
        server,
        data: createTemporaryFolder(),
        readToken: 'read',
        apiToken: 'change',
        corsOrigins: 'https://app.example',
        bodyLimit: BODY_LIMIT,
      })
      const { status } = await prices.request('PUT', `/prices/${price.id}`, price, { authorization: 'Bearer change' })
      expect(status).toBe(201)
    })
    afterAll(() => prices.stop())

    const read = { authorization: 'Bearer read' }
    const search = (body: unknown, headers: Record<string, string> = {}, index = 'bitmap') =>
      prices.search(body, index, { ...read, ...headers })
    const toRawHead = (head: string) =>
      `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer read\r\n${head}\r\n\r\n`
    const open = () => connect(Number(new URL(prices.url).port), '127.0.0.1')

    it('answers with the price and a request id', async () => {
      const { status, headers, body } = await search(toSearch(price))
      expect(status).toBe(200)
      expect(body).toEqual(answer)
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('content-length')).toBe(String(JSON.stringify(answer).length))
      expect(headers.get('x-request-id')).toMatch(/^[a-z0-9]+-[a-z0-9]+$/)
      expect((await search(toSearch(price))).headers.get('x-request-id')).not.toBe(headers.get('x-request-id'))
    })

    it('answers requests of an unusual shape', async () => {
      expect((await search(JSON.stringify(toSearch(price), undefined, 2))).body).toEqual(answer)
      const explained = await search({ ...toSearch(price), explain: true })
      expect(explained.body).toMatchObject({ ...answer, explain: expect.any(Array) })
      expect((await search(toSearch(price), { 'content-type': 'application/json; charset=utf-8' })).body).toEqual(
        answer,
      )
    })

    it('reports errors', async () => {
      const refused = async (body: unknown, headers?: Record<string, string>, index?: string) => {
        const reply = await search(body, headers, index)
        expect(reply.headers.get('content-type')).toBe('application/problem+json')
        expect(reply.headers.get('x-request-id')).not.toBeNull()
        return [reply.status, reply.body.code]
      }
      expect(await refused({ ...toSearch(price), groupId: 'none' })).toEqual([404, 'GROUP_NOT_FOUND'])
      expect(await refused('{"offeringId":')).toEqual([400, 'BAD_JSON'])
      expect(await refused({ offeringId: 1 })).toEqual([400, 'VALIDATION_FAILED'])
      expect(await refused('')).toEqual([400, 'BAD_JSON'])
      expect(await refused(toSearch(price), { 'content-type': 'text/csv' })).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
      expect(await refused(toSearch(price), {}, 'map')).toEqual([404, 'INDEX_NOT_LOADED'])
      expect(await refused(' '.repeat(BODY_LIMIT + 1))).toEqual([413, 'BODY_TOO_LARGE'])
      expect(await refused(toSearch(price), { authorization: 'Bearer wrong' })).toEqual([401, 'UNAUTHORIZED'])
    })

    it('hides an unknown fault from the client, and continues', async () => {
      const fault = vi.spyOn(Searcher.prototype, 'answer').mockImplementationOnce(() => {
        throw new Error('secret words')
      })
      onTestFinished(() => fault.mockRestore())
      const { status, body } = await search(toSearch(price))
      expect([status, body.code]).toEqual([500, 'INTERNAL'])
      expect(JSON.stringify(body)).not.toContain('secret')
      expect((await search(toSearch(price))).body).toEqual(answer)
    })

    it('answers a body of many pieces, a body of unknown length, and a pipelined request', async () => {
      const body = JSON.stringify(toSearch(price))
      const long = body + ' '.repeat(BODY_LIMIT - body.length)
      expect((await search(long)).body).toEqual(answer)

      const socket = open()
      const head = toRawHead(`Content-Type: application/json\r\nContent-Length: ${body.length}`)
      socket.write(head + body.slice(0, 20))
      await new Promise((resolve) => setImmediate(resolve))
      socket.write(body.slice(20) + head + body)
      const size = body.length.toString(16)
      socket.write(
        `${toRawHead('Content-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked')}${size}\r\n${body}\r\n0\r\n\r\n`,
      )
      const replies = await text(socket)
      expect(replies.match(/HTTP\/1.1 200/g)).toHaveLength(3)
      expect(replies.match(new RegExp(price.id, 'g'))).toHaveLength(3)
    })

    it('continues when a client disconnects in the middle of its body', async () => {
      const socket = open()
      socket.write(`${toRawHead('Content-Type: application/json\r\nContent-Length: 100')}{"offeringId":`)
      await once(socket, 'ready')
      socket.resetAndDestroy()
      expect((await search(toSearch(price))).status).toBe(200)
    })

    it('refuses a request without a Host as a problem', async () => {
      const socket = open()
      socket.end(`POST ${PATH} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}`)
      const reply = await text(socket)
      expect(reply).toMatch(/^HTTP\/1.1 400 /)
      expect(reply).toContain('"code":"HOST_MISSING"')
    })

    it('allows searches from a page of a named origin only', async () => {
      // Not fetch, because fetch sets Origin itself.
      const searchFrom = (origin: string) =>
        request(prices.url + PATH, {
          method: 'POST',
          headers: { ...read, origin, 'content-type': 'application/json' },
          body: JSON.stringify(toSearch(price)),
        })
      const allowed = await searchFrom('https://app.example')
      expect(allowed.headers).toMatchObject({ 'access-control-allow-origin': 'https://app.example' })
      expect(await allowed.body.json()).toEqual(answer)
      const other = await searchFrom('https://other.example')
      expect(other.headers['access-control-allow-origin']).toBeUndefined()
      await other.body.dump()
    })

    it('counts every request once', async () => {
      const count = async () => {
        const { body } = await prices.request('GET', '/metrics', undefined, read)
        const lines = String(body).split('\n')
        const line = lines.find((one) => /_count\{.*v1\/search.*status="200"/.test(one))
        return Number(line?.split(' ').at(-1))
      }
      const before = await count()
      await Promise.all(Array.from({ length: 10 }, () => search(toSearch(price))))
      expect((await count()) - before).toBe(10)
    })
  })
}
