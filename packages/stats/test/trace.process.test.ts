import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { getPartNames } from '../src/parts.ts'
import { listOf } from './support/fake-youtube.ts'
import { startKv } from './support/kv.ts'
import { startStats } from './support/stats.ts'

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const VIDEO_IDS = { 'x-request-id': 'caller-1', traceparent: TRACEPARENT }
const VIDEO = '-4lB5EKS5Uk'

/** Forwards requests to `target`, or responds as YouTube; records the headers of each request. */
async function startRecorder(target?: string) {
  const seen: { method: string; headers: IncomingHttpHeaders }[] = []
  const server = createServer(async (request, reply) => {
    seen.push({ method: request.method!, headers: request.headers })
    if (!target) return void reply.end(listOf([VIDEO]))
    const { method, headers, url } = request
    const init = { method: method!, headers: headers as Record<string, string>, duplex: 'half' as const }
    const body = method === 'GET' ? undefined : (request as never)
    const answer = await fetch(target + url, { ...init, body })
    reply.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

it.each(getPartNames('client'))('%s passes the ids of a request on to YouTube', async (client) => {
  const youtube = await startRecorder()
  const settings = { variant: 'v3', client, youtubeUri: youtube.url, data: createTemporaryFolder(), dailyBudget: 0 }
  const stats = await startStats(settings)
  onTestFinished(async () => void (await stats.stop()))
  await stats.put('/collections/c', { videos: [VIDEO] })
  expect((await stats.get('/collections/c/stats', VIDEO_IDS)).body).toMatchObject({ videos: 1, source: youtube.url })
  expect(youtube.seen).toHaveLength(1)
  expect(youtube.seen[0]!.headers).toMatchObject(VIDEO_IDS)
  await stats.get('/collections/c/stats')
  expect(youtube.seen[1]!.headers['x-request-id']).not.toBe(VIDEO_IDS['x-request-id'])
})

it('passes them on to kv, also from main; calls of the poller have none', async () => {
  const kv = await startKv()
  onTestFinished(async () => void (await kv.stop()))
  const [recorder, youtube] = [await startRecorder(kv.url), await startRecorder()]
  const settings = { state: 'kv', kvUri: recorder.url, youtubeUri: youtube.url, data: createTemporaryFolder() }
  const stats = await startStats({ ...settings, threads: 1 })
  onTestFinished(async () => void (await stats.stop()))
  // The source of the numbers is recorded at the start.
  recorder.seen.length = 0
  expect((await stats.put('/collections/c', { videos: [VIDEO] }, VIDEO_IDS)).status).toBe(201)
  const put = recorder.seen.find(({ method }) => method === 'PUT')
  expect(put?.headers).toMatchObject(VIDEO_IDS)
  await waitUntil(() => youtube.seen.length > 0)
  for (const { headers } of youtube.seen) expect(headers).not.toHaveProperty('x-request-id')
  expect(await (await fetch(`${stats.url}/metrics`)).text()).toMatch(
    /^upstream_request_duration_seconds_count\{upstream="kv",status="201"\} \d/m,
  )
})
