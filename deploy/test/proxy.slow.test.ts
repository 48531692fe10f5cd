import { startMixedLoad } from '@influencer-stats/runtime/testing/mixed-load'
import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawnSync } from 'node:child_process'
import { request, type IncomingMessage } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hasCaddy, startCaddy } from './support/caddy.ts'
import { hasNginx, startNginx } from './support/nginx.ts'

const HOST = 'stats.example.com'

function open(port: number, path: string, method = 'GET', body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { host: HOST, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, resolve)
    sent.on('error', reject).end(body)
    onTestFinished(() => void sent.destroy())
  })
}

async function send(port: number, path: string, method?: string, body?: string) {
  const reply = await open(port, path, method, body)
  return {
    status: reply.statusCode,
    headers: reply.headers,
    text: (await reply.setEncoding('utf8').toArray()).join(''),
  }
}

type Ports = Readonly<Record<'stats' | 'sse' | 'prices', number>>

/** Checks that apply to any proxy. @param id pattern of the request ids that the proxy sets */
async function checkProxy(start: (ports: Ports) => Promise<number>, id: RegExp): Promise<void> {
  const common = ['--port', '0', '--data', createTemporaryFolder(), '--log-level', 'warn', '--sample', 'no']
  const env = { ALLOWED_HOSTS: HOST, TRUST_PROXY: '127.0.0.1', MERCURE_ANONYMOUS: 'on' }
  const started = spawnStart(['stats', 'sse', 'prices', ...common], env, { script: START_SCRIPT })
  const rows = await started.waitUntilReady()
  const port = await start({ stats: rows.stats!.port, sse: rows.sse!.port, prices: rows.prices!.port })

  const stream = await open(port, '/wait?cid=a&topic=collections/c')
  expect(stream.headers['content-type']).toMatch(/^text\/event-stream/)
  let text = ''
  stream.setEncoding('utf8').on('data', (part) => (text += part))
  const put = await send(port, '/collections/c', 'PUT', '{"videos":["-4lB5EKS5Uk"]}')
  expect(put.status).toBe(201)
  // The proxy's own id, which is also in the log of the service.
  expect(put.headers['x-request-id']).toMatch(id)
  expect(await send(port, '/collections/c/stats')).toMatchObject({
    status: 200,
    text: expect.stringContaining('stand-in'),
  })
  await waitUntil(() => /^data: .*"impressions":261734/m.test(text))
  const update = await send(port, '/put?topic=collections/c', 'POST', '"by proxy"')
  expect([update.status, update.headers['event-id']]).toEqual([200, expect.stringMatching(/-\d+$/)])
  await waitUntil(() => text.includes('data: "by proxy"\n'))
  expect((await send(port, '/values', 'POST', '[{"topic":"a","value":"1"}]')).status).toBe(200)
  expect((await send(port, '/value?topic=a')).text).toBe('1')
  const hub = await open(port, '/.well-known/mercure?match=a')
  expect(hub.headers['content-type']).toMatch(/^text\/event-stream/)
  expect((await send(port, '/v1/search/bitmap/prices', 'POST', '{}')).status).toBe(400)
  expect((await send(port, '/metrics')).status).toBe(404)
  expect((await started.stop()).code).toBe(0)
}

/** Runs a proxy whose writes end 20 ms after their bytes are sent, as can happen on a busy machine. */
const SLOW_WRITES = ['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=write,writev:delay_exit=20000']
const canSlowWrites = spawnSync(SLOW_WRITES[0]!, [...SLOW_WRITES.slice(1), 'true']).status === 0

/** Checks that large replies to large requests are complete. */
async function checkLargeReplies(start: (ports: Ports) => Promise<number>): Promise<void> {
  const args = ['sse', '--port', '0', '--data', createTemporaryFolder(), '--log-level', 'warn']
  const started = spawnStart(args, { ALLOWED_HOSTS: HOST }, { script: START_SCRIPT })
  const { port } = (await started.waitUntilReady()).sse!
  const proxyPort = await start({ stats: port, sse: port, prices: port })
  const headers = { 'content-type': 'text/plain' }
  const load = startMixedLoad({
    port: proxyPort,
    host: HOST,
    clients: 4,
    total: 40,
    create: () => ({ method: 'POST', path: '/put', headers, body: 'x'.repeat(60_000) }),
  })
  expect((await load.done).failures).toEqual([])
  expect((await started.stop()).code).toBe(0)
}

describe('requests reach the services, streams start immediately, and metrics are hidden', () => {
  test.skipIf(!hasNginx)('behind nginx', () =>
    checkProxy(
      ({ stats, sse, prices }) => startNginx('nginx.conf', { stats: [stats], sse: [sse], prices: [prices] }),
      /^[\da-f]{32}$/,
    ),
  )
  test.skipIf(!hasCaddy)('behind Caddy', () => checkProxy(startCaddy, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/))
})

describe('large replies to large requests are complete if the writes of the proxy take long', () => {
  test.skipIf(!hasNginx || !canSlowWrites)('behind nginx', () =>
    checkLargeReplies(({ stats, sse, prices }) =>
      startNginx('nginx.conf', { stats: [stats], sse: [sse], prices: [prices] }, SLOW_WRITES),
    ),
  )
  test.skipIf(!hasCaddy || !canSlowWrites)('behind Caddy', () =>
    checkLargeReplies((ports) => startCaddy(ports, SLOW_WRITES)),
  )
})
