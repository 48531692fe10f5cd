import { SERVERS } from '@influencer-stats/runtime/settings'
import { beforeAll, describe, expect, it } from 'vitest'
import { createPublisherClient } from '../src/publisher-client.ts'
import { createSseClient } from '../src/client.ts'
import { openSse, startSse, type TestSse } from './support/test-sse.ts'
import { toBearerHeader, MERCURE, sign } from './support/sign-tokens.ts'

const headers = { 'content-type': 'application/json' }
const problem = (status: number, code: string) => ({ status, body: { status, code } })
const createBody = (count: number, value = 'v') =>
  JSON.stringify(Array.from({ length: count }, (_, i) => ({ topic: `t${i % 7}`, value: `${value}${i}` })))

describe.each(SERVERS.flatMap((server) => [1, 2].map((threads) => [server, threads] as const)))(
  'many values at once, %s with %i threads',
  (server, threads) => {
    let sse: TestSse
    beforeAll(async () => {
      sse = await openSse({ server, threads })
      return () => sse.stop()
    })

    it('reach the streams of their topics consecutively', async () => {
      const streams = await sse.openBoth('?match=*&named=1')
      const others = await sse.openBoth('?topic=t3')
      const [first, second] = await Promise.all(
        ['a', 'b'].map((value) => sse.request('POST', '/values', { body: createBody(1_000, value), headers })),
      )
      for (const { status, body, headers: replyHeaders } of [first!, second!]) {
        expect(status).toBe(200)
        const [from, to] = [body.first, body.last].map((id: string) => Number(id.split('-')[1]))
        expect(to! - from!).toBe(999)
        expect(replyHeaders.get('event-id')).toBe(body.last)
      }
      for (const stream of streams) {
        await stream.until(2_000)
        const values = stream.values.map((json) => JSON.parse(json))
        const sent = ['a', 'b'].map((value) => JSON.parse(createBody(1_000, value)))
        if (values[0].value === 'b0') sent.reverse()
        expect(values).toEqual(sent.flat())
      }
      for (const stream of others) await stream.until(2 * 143)
      expect(await sse.request('GET', '/value?topic=t6')).toMatchObject({ status: 200 })
    })

    it.each([
      ['none', '[]', 'VALIDATION_FAILED'],
      ['no list', '{"value":"a"}', 'VALIDATION_FAILED'],
      ['more than 1,000', createBody(1_001), 'VALIDATION_FAILED'],
      ['a number', '[{"value":"a"},{"value":1}]', 'VALIDATION_FAILED'],
      ['an empty topic', '[{"value":"a"},{"topic":"","value":"b"}]', 'VALIDATION_FAILED'],
      ['an unknown field', '[{"value":"a","id":"x"}]', 'VALIDATION_FAILED'],
      ['no JSON', '[{"value":"a"}', 'BAD_JSON'],
      ["the hub's own topic", '[{"value":"a"},{"topic":"/.well-known/mercure/x","value":"b"}]', 'HUB_TOPIC', 403],
    ])('are put all or none: %s', async (_what, body, code, status = 400) => {
      expect(await sse.request('POST', '/values', { body, headers })).toMatchObject(problem(status, code))
      // The valid values were for this topic.
      expect(await sse.request('GET', '/value')).toMatchObject(problem(404, 'VALUE_NOT_FOUND'))
    })
  },
)

it('many values need a token that allows each of their topics', async () => {
  const sse = await startSse({ ...MERCURE, apiToken: 'change' })
  const token = toBearerHeader(await sign({ publish: ['a', 'b'] }))
  const put = (topics: string[], how: Record<string, string>) =>
    sse.request('POST', '/values', {
      body: JSON.stringify(topics.map((topic) => ({ topic, value: topic }))),
      headers: { ...headers, ...how },
    })
  expect((await put(['a'], {})).status).toBe(401)
  expect(await put(['a', 'c'], token)).toMatchObject(problem(403, 'INSUFFICIENT_SCOPE'))
  const read = () => sse.request('GET', '/value?topic=a', { headers: token })
  expect((await read()).status).toBe(404)
  expect((await put(['a', 'b'], token)).status).toBe(200)
  expect((await put(['c'], toBearerHeader('change'))).status).toBe(200)
  expect((await read()).body).toBe('a')
})

it('many values are put by the typed client, which throws the code of a refusal', async () => {
  const sse = await startSse()
  const broadcaster = createPublisherClient(sse.url)
  const id = await broadcaster.putValues(['a', 'b'].map((topic) => ({ topic, value: topic })))
  expect((await sse.request('GET', '/value?topic=b')).headers.get('event-id')).toBe(id)
  const browser = createSseClient(sse.url)
  await browser.putValues([{ topic: 'b', value: 'c' }])
  expect(await browser.getValue('b')).toBe('c')
  await expect(broadcaster.putValues([])).rejects.toMatchObject({ status: 400, code: 'VALIDATION_FAILED' })
  broadcaster.close()
})
