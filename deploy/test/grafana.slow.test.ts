import { startNatsServer } from '@influencer-stats/log/nats-server'
import { START_SCRIPT, spawnStart, type ReadyRow } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readExposition } from './support/exposition.ts'
import { hasPrometheus, startPrometheus } from './support/prometheus.ts'
import { findForgotten, readPanelQueries } from './support/queries.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
/** Long enough for two scrapes on a busy machine. */
const RATE_INTERVAL = '30s'
/** Services in `prometheus.yml`. */
const SCRAPED = ['dashboard', 'stats', 'kv', 'sse', 'prices']
const CLUSTERED = ['kv', 'prices', 'sse', 'stats']

/** Sends requests for every panel until the test ends. */
function makeTraffic({ stats, kv, sse, prices }: Record<string, ReadyRow>): void {
  const ending = new AbortController()
  const { signal } = ending
  const send = async (url: string, init: RequestInit = {}) => {
    await (await fetch(url, { ...init, signal })).arrayBuffer()
  }
  async function run(): Promise<void> {
    const collection = `${stats!.url}/collections/c`
    const body = JSON.stringify({ videos: ['goesviral26'] })
    await send(collection, { method: 'PUT', headers: JSON_TYPE, body })
    for (let i = 0; !signal.aborted; i++) {
      await send(`${collection}/stats`)
      await send(`${kv!.url}/v0/entity?id=${i}`, { method: 'PUT', body: 'b' })
      // Exceeds the client memory limit: refused with 503.
      await send(`${kv!.url}/v0/entity?id=large`, { method: 'PUT', body: Buffer.alloc(2_000_000) })
      await send(`${sse!.url}/put?v=${i}&topic=t`)
      await send(`${prices!.url}/v1/search/bitmap/prices`, { method: 'POST', headers: JSON_TYPE, body: '{}' })
      await delay(100, undefined, { signal })
    }
  }
  const running = Promise.allSettled([run(), send(`${sse!.url}/wait?cid=a&topic=t`)])
  onTestFinished(async () => {
    ending.abort()
    await running
  })
}

test.skipIf(!hasPrometheus)(
  'every panel of the dashboard shows something of services that run, by a real Prometheus',
  async () => {
    const servers = await startNatsServer({ folder: createTemporaryFolder() })
    onTestFinished(() => servers.stop('SIGKILL'))
    const node = CLUSTERED.flatMap((name) => [`--${name}.cluster`, servers.url, `--${name}.nats-replicas`, '1'])
    const common = ['--port', '0', '--data', createTemporaryFolder(), '--log-level', 'error', '--sample', 'no']
    const args = [...common, ...node, '--kv.client-memory-limit', '1048576']
    const started = spawnStart(args, {}, { script: START_SCRIPT })
    const rows = await started.waitUntilReady()
    const targets = SCRAPED.map((name) => [name, [`localhost:${rows[name]!.port}`]] as const)
    const { query } = await startPrometheus(Object.fromEntries(targets))
    makeTraffic(rows)
    await waitUntil(async () => (await query('up == 1')).length === SCRAPED.length)

    const queried = readPanelQueries()
    expect(queried.length).toBeGreaterThan(45)
    let silent = queried
    const isShown = async ({ expr }: { expr: string }) => {
      const values = await query(expr.replaceAll('$job', '.+').replaceAll('$__rate_interval', RATE_INTERVAL))
      return values.some((value) => Number.isFinite(Number(value)))
    }
    await waitUntil(async () => {
      const isSilent = await Promise.all(silent.map(async (one) => !(await isShown(one))))
      silent = silent.filter((_, i) => isSilent[i])
      return silent.length === 0 || delay(500, false)
    }).catch(() => undefined)
    expect(silent).toEqual([])
    const families = await Promise.all(
      Object.values(rows).map(async ({ url }) => readExposition(await (await fetch(`${url}/metrics`)).text())),
    )
    expect(findForgotten(families.flat().map(({ name }) => name))).toEqual([])
    expect((await started.stop()).code).toBe(0)
  },
)
