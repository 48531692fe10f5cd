import { describe, expect, test } from 'vitest'
import { SERVERS } from '../src/settings/settings.ts'
import { expectProblem, startCounter } from './support/counter-service.ts'
import { openRawClient, formatRequest } from './support/raw-client.ts'

const VALUE = '{"value":7}'
const CHUNKS = `b\r\n${VALUE}\r\n0\r\n\r\n`
const JSON_TYPE = { 'content-type': 'application/json' }
const get = formatRequest('GET', '/value')

describe.each(SERVERS)('unreadable content, served by %s', (server) => {
  const PATHS = ['/value', '/items/ab']

  test.each(['gzip, chunked', 'gzip', 'identity', 'gzip\r\ntransfer-encoding: chunked'])(
    '501 once for Transfer-Encoding: %s, and requests after it are not executed',
    async (coding) => {
      const { port, request } = await startCounter({ hot: 'yes', server })
      for (const path of PATHS) {
        const client = await openRawClient(port)
        client.send(formatRequest('PUT', path, { ...JSON_TYPE, 'transfer-encoding': coding }) + CHUNKS)
        client.send(formatRequest('PUT', '/value', {}, VALUE))
        expectProblem(await client.reply(), 501, 'TRANSFER_ENCODING_UNSUPPORTED')
        await client.closed
        await expect(client.reply()).rejects.toThrow()
      }
      expect((await request('GET', '/value')).body).toBe('{"value":0}')
    },
  )

  test.each(['chunked', 'Chunked'])('Transfer-Encoding: %s is decoded', async (coding) => {
    const { port } = await startCounter({ hot: 'yes', server })
    const client = await openRawClient(port)
    client.send(formatRequest('PUT', '/value', { ...JSON_TYPE, 'transfer-encoding': coding }) + CHUNKS)
    expect(await client.reply()).toMatchObject({ status: 200, body: VALUE })
  })

  test('400 for Content-Range on PUT; other methods ignore it', async () => {
    const { port } = await startCounter({ hot: 'yes', server })
    const client = await openRawClient(port)
    const range = { 'content-range': 'bytes 0-10/11' }
    for (const path of PATHS) {
      client.send(formatRequest('PUT', path, range, VALUE) + get)
      expectProblem(await client.reply(), 400, 'CONTENT_RANGE_UNSUPPORTED')
      expect((await client.reply()).body).toBe('{"value":0}')
    }
    for (const path of ['/items/ab/view', '/value']) {
      client.send(formatRequest('GET', path, range))
      expect((await client.reply()).status).toBe(200)
    }
  })

  test.each(['gzip', 'GZIP', 'identity, br', 'x'])('415 for Content-Encoding: %s', async (coding) => {
    const { port } = await startCounter({ hot: 'yes', server })
    const client = await openRawClient(port)
    for (const path of PATHS) {
      client.send(formatRequest('PUT', path, { 'content-encoding': coding }, VALUE) + get)
      const reply = await client.reply()
      expectProblem(reply, 415, 'CONTENT_ENCODING_UNSUPPORTED')
      expect(reply.headers['accept-encoding']).toBe('identity')
      expect((await client.reply()).body).toBe('{"value":0}')
    }
  })

  test.each(['identity', 'Identity', ''])('Content-Encoding: %j means no coding', async (coding) => {
    const { port } = await startCounter({ hot: 'yes', server })
    const client = await openRawClient(port)
    for (const path of PATHS) {
      client.send(formatRequest('PUT', path, { 'content-encoding': coding }, VALUE))
      expect((await client.reply()).status).toBe(200)
    }
  })
})
