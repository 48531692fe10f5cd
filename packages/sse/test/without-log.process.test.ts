import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { deleteStream, startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { createNodeSettings, createStreamName } from './support/cluster-nodes.ts'
import { startSse } from './support/test-sse.ts'

it('a running node that loses its stream continues its streams and values', async () => {
  const server = await startTestNatsServer()
  const stream = createStreamName()
  const sse = await startSse({ ...createNodeSettings(server.url, stream), threads: 2 })
  const open = await sse.open('?topic=fire')
  await sse.put('1', 'fire')
  await waitUntil(() => open.values.length === 1)
  await deleteStream(server.url, stream)
  await waitUntil(async () => (await sse.request('GET', '/readyz')).body.writes.code === 'LOG_LOST')
  expect((await sse.request('GET', '/value?topic=fire')).status).toBe(200)
  expect((await sse.request('GET', '/readyz?for=writes')).status).toBe(503)
  await expect(sse.put('2', 'fire')).rejects.toThrow()
  const resumed = await sse.open('?topic=fire', { headers: { 'last-event-id': open.events[0]!.lastEventId } })
  expect([open.values, resumed.values]).toEqual([['1'], []])
})

it('a node that starts without its log is empty and not ready', async () => {
  const port = await findFreePort()
  const sse = await startSse(createNodeSettings(`nats://127.0.0.1:${port}`, createStreamName()))
  expect(await sse.request('GET', '/readyz')).toMatchObject({ status: 503, body: { detail: 'NATS_UNREACHABLE' } })
  for (const path of ['/value?topic=fire', '/?topic=fire'])
    expect(await sse.request('GET', path)).toMatchObject({ status: 503, body: { code: 'LOG_UNAVAILABLE' } })
  // It refuses reads until it has stopped, too: a client that resumes would take its empty history for a loss.
  const stopping = sse.stop()
  const statuses = await readWhileItStops(`${sse.url}/wait?topic=fire&lastEventId=other-7`)
  await stopping
  expect(new Set(statuses)).toEqual(new Set([503]))
})

/** Sends requests until no further connection is accepted. */
async function readWhileItStops(url: string): Promise<number[]> {
  const statuses: number[] = []
  for (;;) {
    try {
      const { status, body } = await fetch(url)
      statuses.push(status)
      await body?.cancel()
    } catch {
      return statuses
    }
  }
}
