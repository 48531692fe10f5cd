import { startMixedLoad, type LoadRequest, type MixedLoadOptions } from '@influencer-stats/runtime/testing/mixed-load'
import { START_SCRIPT, spawnStart, type SpawnedStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { exampleSearch } from '@influencer-stats/prices/sample/examples'
import { describe, expect, test } from 'vitest'
import { hasCaddy, startCaddy } from './support/caddy.ts'
import { createKvRequest, LARGE_VALUE } from './support/kv-requests.ts'
import { hasNginx, startNginx } from './support/nginx.ts'

const HOST = 'stats.example.com'
const REQUESTS = 20_000
const RELOADS = 4
const CLIENTS = 16
const JSON_TYPE = { 'content-type': 'application/json' }
const SERVICES = ['stats', 'sse', 'prices'] as const

/** Creates requests with and without bodies, to all three services. */
function createRequest(number: number, client: number): LoadRequest {
  switch (number % 6) {
    case 0:
      return { method: 'PUT', path: `/collections/c${client}`, headers: JSON_TYPE, body: '{"videos":["-4lB5EKS5Uk"]}' }
    case 1:
      return { method: 'POST', path: `/put?topic=t${client}`, headers: JSON_TYPE, body: LARGE_VALUE }
    case 2:
      return {
        method: 'POST',
        path: '/v1/search/bitmap/prices',
        headers: JSON_TYPE,
        body: JSON.stringify(exampleSearch),
      }
    case 3:
      return { method: 'POST', path: '/values', headers: JSON_TYPE, body: '[{"topic":"a","value":"1"}]' }
    case 4:
      return { method: 'GET', path: '/value?topic=a' }
    default:
      return { method: 'GET', path: '/collections/first/stats' }
  }
}

type Ports = Readonly<Record<(typeof SERVICES)[number], number>>

/** Sends 20,000 requests while all services are restarted four times. */
async function checkLoad(
  started: SpawnedStart,
  services: number,
  options: Omit<MixedLoadOptions, 'clients'>,
): Promise<void> {
  const load = startMixedLoad({ ...options, clients: CLIENTS })
  for (let reload = 1; reload <= RELOADS; reload++) {
    await waitUntil(() => load.sent > (reload * REQUESTS) / (RELOADS + 1))
    started.kill('SIGHUP')
    await waitUntil(() => started.stderr.match(/reloaded as process/g)?.length === reload * services)
  }
  await waitUntil(() => load.sent >= REQUESTS)
  load.stop()
  const { failures } = await load.done
  expect(failures).toEqual([])
  expect((await started.stop()).code).toBe(0)
}

async function checkProxy(startProxy: (ports: Ports) => Promise<number>): Promise<void> {
  const args = [...SERVICES, '--port', '0', '--data', createTemporaryFolder(), '--log-level', 'warn', '--threads', '2']
  const env = { ALLOWED_HOSTS: HOST, TRUST_PROXY: '127.0.0.1' }
  const started = spawnStart([...args, '--stats.threads', '1', '--sse.threads', '1', '--history', 'level'], env, {
    script: START_SCRIPT,
  })
  const rows = await started.waitUntilReady()
  const port = await startProxy({ stats: rows.stats!.port, sse: rows.sse!.port, prices: rows.prices!.port })
  for (const [path, method, body] of [
    ['/collections/first', 'PUT', '{"videos":["-4lB5EKS5Uk"]}'],
    ['/put?topic=a', 'POST', '"1"'],
  ] as const) {
    const load = startMixedLoad({
      port,
      host: HOST,
      clients: 1,
      total: 1,
      create: () => ({ path, method, body, headers: JSON_TYPE }),
    })
    expect((await load.done).failures).toEqual([])
  }

  await checkLoad(started, Object.keys(rows).length, { port, host: HOST, create: createRequest })
}

// On a busy machine 20,000 requests take minutes.
const TIMEOUT_MS = 600_000

describe(
  '20,000 requests of a client that never retries, and four restarts of all services: none fails',
  { timeout: TIMEOUT_MS },
  () => {
    test.skipIf(!hasNginx)('behind nginx', () =>
      checkProxy(({ stats, sse, prices }) =>
        startNginx('nginx.conf', { stats: [stats], sse: [sse], prices: [prices] }),
      ),
    )
    test.skipIf(!hasCaddy)('behind Caddy', () => checkProxy(startCaddy))

    test('without a proxy', async () => {
      const args = ['kv', '--port', '0', '--data', createTemporaryFolder(), '--log-level', 'warn', '--threads', '2']
      const started = spawnStart(args, {}, { script: START_SCRIPT })
      const { kv } = await started.waitUntilReady()
      await checkLoad(started, 1, { port: kv!.port, create: createKvRequest })
    })
  },
)
