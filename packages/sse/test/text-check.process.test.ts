import { expect, it } from 'vitest'
import { startSse } from './support/test-sse.ts'

const invalid = { status: 400, body: { code: 'VALIDATION_FAILED' } }

it('NUL in topics, and half a surrogate pair in topics and values, are refused: a stream cannot carry them', async () => {
  const sse = await startSse()
  for (const path of ['/put?v=1&topic=a%00b', '/value?topic=%00', '/put?v=1&topic=%ED%A0%80', '/put?v=%ED%A0%80'])
    expect([path, await sse.request('GET', path)]).toMatchObject([path, invalid])
  const headers = { 'content-type': 'application/json' }
  for (const item of [
    '"topic":"a\\u0000","value":"1"',
    '"topic":"\\ud800","value":"1"',
    '"topic":"a","value":"\\udc00"',
  ]) {
    const reply = await sse.request('POST', '/values', { headers, body: `[{"topic":"a","value":"0"},{${item}}]` })
    expect([item, reply]).toMatchObject([item, invalid])
  }
  expect((await sse.request('GET', '/value?topic=a')).status).toBe(404)
  const whole = '[{"topic":"😀","value":"a\\u0000😀"}]'
  expect((await sse.request('POST', '/values', { headers, body: whole })).status).toBe(200)
  expect((await sse.request('GET', `/value?topic=${encodeURIComponent('😀')}`)).body).toBe('a\0😀')
})
