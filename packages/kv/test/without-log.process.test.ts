import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { deleteStream, startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { expect, it } from 'vitest'
import { start } from './support/cluster-nodes.ts'
import { entity, type TestKv } from './support/kv.ts'

const put = (kv: TestKv, value: string) =>
  kv.request('PUT', entity('k'), value, { 'content-type': 'text/plain' }).then(({ status }) => status)
const readJson = async (kv: TestKv, path: string) => {
  const { status, text } = await kv.request('GET', path)
  return { status, body: JSON.parse(text) }
}
const readMetric = async (kv: TestKv, line: string) => (await kv.request('GET', '/metrics')).text.includes(`${line}\n`)

it('a node without state and without its log is not ready, and refuses reads', async () => {
  const port = await findFreePort()
  const kv = await start({ cluster: `nats://127.0.0.1:${port}`, natsReplicas: 1, threads: 2 })
  expect(await readJson(kv, '/readyz')).toMatchObject({
    status: 503,
    body: { code: 'NOT_READY', detail: 'NATS_UNREACHABLE' },
  })
  for (const path of [entity('k'), '/v0/entities?start=%00', '/v0/watch'])
    expect(await readJson(kv, path)).toMatchObject({
      status: 503,
      body: { code: 'LOG_UNAVAILABLE', detail: 'NATS_UNREACHABLE' },
    })
  for (const path of ['/', '/docs', '/openapi.json', '/version', '/healthz'])
    expect([path, (await kv.request('GET', path)).status]).toEqual([path, 200])
  expect(await readMetric(kv, 'kv_log_available 0')).toBe(true)
  await startTestNatsServer({ port })
  await waitUntil(async () => (await kv.request('GET', '/readyz')).status === 200)
  expect(await put(kv, '1')).toBe(201)
  expect((await kv.request('GET', entity('k'))).text).toBe('1')
  expect(await readMetric(kv, 'kv_log_available 1')).toBe(true)
}, 120_000)

it('a node with state serves reads without its servers and without its stream', async () => {
  const server = await startTestNatsServer()
  const settings = { cluster: server.url, natsReplicas: 1, data: createTemporaryFolder() }
  const first = await start(settings)
  expect(await put(first, '1')).toBe(201)
  expect(await readJson(first, '/readyz')).toEqual({ status: 200, body: { status: 'ready', writes: { ready: true } } })
  await first.stop()
  await server.stop()
  const kv = await start(settings)
  expect((await kv.request('GET', entity('k'))).text).toBe('1')
  expect((await kv.request('GET', entity('none'))).code).toBe('ENTITY_NOT_FOUND')
  const refused = await kv.request('PUT', entity('k'), '2', { 'content-type': 'text/plain' })
  expect([refused.code, refused.headers.get('retry-after')]).toEqual(['LOG_UNAVAILABLE', '1'])
  expect(await readJson(kv, '/readyz')).toMatchObject({
    status: 200,
    body: { writes: { ready: false, code: 'NATS_UNREACHABLE', detail: expect.any(String), since: expect.any(String) } },
  })
  expect(await readJson(kv, '/readyz?for=writes')).toMatchObject({ status: 503, body: { code: 'NOT_READY' } })
  await server.restart()
  await waitUntil(async () => (await kv.request('GET', '/readyz?for=writes')).status === 200)
  expect(await put(kv, '3')).toBe(201)
  await deleteStream(server.url, 'kv')
  await waitUntil(async () => (await readJson(kv, '/readyz')).body.writes.code === 'LOG_LOST')
  expect(await put(kv, '4')).toBe(503)
  expect((await kv.request('GET', entity('k'))).text).toBe('3')
  expect(await readMetric(kv, 'kv_log_unavailable{code="LOG_LOST"} 1')).toBe(true)
}, 60_000)
