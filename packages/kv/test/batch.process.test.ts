import { SERVERS } from '@influencer-stats/runtime/settings'
import { describe, expect, it, onTestFinished } from 'vitest'
import { entity, useKv, startKv } from './support/kv.ts'
import { measureLongestHold } from '@influencer-stats/runtime/testing/longest-hold'

const NDJSON = { accept: 'application/x-ndjson' }

describe.each(SERVERS)('batches, server %s', (server) => {
  const kv = useKv({ server, valueLimit: 100_000, batchLimit: 200_000 })

  it('applies a batch in order, and returns ranges as lines of a batch', async () => {
    const bytes = Buffer.from([0xff, 0, 10])
    const lines = [
      { op: 'put', id: 'b/1', value: 'one\n"' },
      { op: 'put', id: 'b/2', valueBase64: bytes.toString('base64') },
      { op: 'put', id: 'b/3', value: 'gone' },
      { op: 'delete', id: 'b/3' },
    ]
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const { status, text } = await kv.request('POST', '/v0/batch?durable=true', body)
    expect({ status, text }).toEqual({ status: 200, text: '{"applied":4}' })
    expect((await kv.request('GET', entity('b/2'))).bytes).toEqual(bytes)
    const range = await kv.request('GET', '/v0/entities?start=b/&end=b0', undefined, NDJSON)
    expect(range.text).toBe(body.split('\n').slice(0, 2).join('\n') + '\n')
    expect((await kv.request('POST', '/v0/batch', range.text)).text).toBe('{"applied":2}')
  })

  it.each([
    ['without a body', undefined],
    ['with an empty body', ''],
    ['of empty lines', '\n \n'],
  ])('refuses a batch %s', async (_, body) => {
    expect(await kv.request('POST', '/v0/batch', body)).toMatchObject({ status: 400, code: 'BATCH_EMPTY' })
  })

  it.each<Record<string, string>>([{ 'if-match': '*' }, { 'if-none-match': '*' }, { 'if-match': '"none"' }])(
    'refuses a batch with a condition: %j',
    async (condition) => {
      const line = '{"op":"put","id":"conditional","value":"1"}\n'
      expect(await kv.request('POST', '/v0/batch', line, condition)).toMatchObject({
        status: 400,
        code: 'CONDITION_UNSUPPORTED',
      })
      expect((await kv.request('GET', entity('conditional'))).status).toBe(404)
    },
  )

  it('ignores dates as conditions of a batch, because a batch has none', async () => {
    const date = new Date(0).toUTCString()
    const line = '{"op":"delete","id":"dated"}\n'
    const headers = { 'if-modified-since': date, 'if-unmodified-since': date }
    expect((await kv.request('POST', '/v0/batch', line, headers)).status).toBe(200)
  })

  it.each([
    ['{', 'BATCH_LINE_INVALID'],
    ['[]', 'BATCH_LINE_INVALID'],
    ['{"op":"get","id":"x"}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"x"}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"","value":""}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"\\ud800","value":""}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"x","value":"","valueBase64":""}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"x","valueBase64":"%%"}', 'BATCH_LINE_INVALID'],
    ['{"op":"delete","id":"x","value":""}', 'BATCH_LINE_INVALID'],
    [`{"op":"delete","id":"${'x'.repeat(1025)}"}`, 'KEY_TOO_LARGE'],
    [`{"op":"put","id":"x","value":"${'x'.repeat(100_001)}"}`, 'VALUE_TOO_LARGE'],
  ])('refuses a batch with the line %.60s, names the line, and applies nothing', async (line, code) => {
    const good = '{"op":"put","id":"never","value":""}'
    const reply = await kv.request('POST', '/v0/batch', `${good}\n\n${line}\n${good}`)
    expect(reply.code).toBe(code)
    expect(JSON.parse(reply.text).detail).toMatch(/^line 3: /)
    expect((await kv.request('GET', entity('never'))).status).toBe(404)
  })

  it('refuses a batch that is too large or not UTF-8', async () => {
    expect((await kv.request('POST', '/v0/batch', Buffer.alloc(200_001, 10))).code).toBe('BATCH_TOO_LARGE')
    const body = Buffer.concat([Buffer.from('{"op":"delete","id":"'), Buffer.from([0xff]), Buffer.from('"}')])
    expect((await kv.request('POST', '/v0/batch', body)).code).toBe('BATCH_LINE_INVALID')
    expect((await kv.request('POST', '/v0/batch?id=x', '')).code).toBe('QUERY_INVALID')
  })
})

const put = (i: number) => `{"op":"put","id":"${i}","value":""}\n`
const createLines = (count: number) => Array.from({ length: count }, (_, i) => put(i)).join('')

it('batches of many lines do not end a thread, accepted or not', async () => {
  const kv = await startKv({ threads: 2, batchLines: 30_000 })
  const [accepted, more] = [createLines(30_000), createLines(300_000)]
  const sendBatch = [more, more, accepted, accepted].map((body) => kv.request('POST', '/v0/batch', body))
  const replies = await Promise.all(sendBatch)
  expect(replies.map(({ status, code }) => [status, code])).toEqual([
    [413, 'BATCH_TOO_LARGE'],
    [413, 'BATCH_TOO_LARGE'],
    [200, undefined],
    [200, undefined],
  ])
  expect(JSON.parse(replies[0]!.text).detail).toMatch(/^line 30001: /)
  expect((await kv.request('GET', '/v0/entity?id=29999')).status).toBe(200)
  expect((await kv.request('GET', '/v0/entity?id=30000')).status).toBe(404)
  await kv.stop()
})

it('a batch of many lines lets other requests proceed', async () => {
  const kv = await startKv({ threads: 0, batchLines: 100_000 })
  onTestFinished(async () => void (await kv.stop()))
  const body = createLines(100_000)
  const shares: number[] = []
  for (let i = 0; i < 3; i++) {
    const { result, held, worked } = await measureLongestHold(() => kv.request('POST', '/v0/batch', body))
    expect(result.status).toBe(200)
    shares.push(held / worked)
  }
  // The longest turn takes 3 % of the work. Without yields each would take half. A garbage collection may extend one.
  expect(Math.min(...shares)).toBeLessThan(0.1)
})
