import { startCollector, type ReceivedSpan } from '@influencer-stats/runtime/testing/collector'
import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, test } from 'vitest'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'

test('what is done for a request in several services is one trace', async () => {
  const collector = await startCollector()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  const common = ['--port', '0', '--data', createTemporaryFolder(), '--log-level', 'warn']
  const chosen = ['--stats.state', 'kv', '--stats.cache', 'lru']
  const started = spawnStart(['stats', 'sse', 'kv', ...common, ...chosen], env, { script: START_SCRIPT })
  const { stats } = await started.waitUntilReady()
  const headers = { 'content-type': 'application/json', traceparent: `00-${TRACE_ID}-${CALLER}-01` }
  const url = `${stats!.url}/collections/c`
  expect((await fetch(url, { method: 'PUT', headers, body: '{"videos":["-4lB5EKS5Uk"]}' })).status).toBe(201)
  expect((await fetch(`${url}/stats`, { headers })).status).toBe(200)

  const mine = () => collector.spans.filter(({ traceId }) => traceId === TRACE_ID)
  const find = (service: string, name: RegExp) =>
    mine().find((span) => span.service === service && name.test(span.name))
  const put = await waitUntil(() => find('stats', /^PUT \/collections\/:id$/))
  const read = await waitUntil(() => find('stats', /^GET \/collections\/:id\/stats$/))
  expect([put.parentSpanId, read.parentSpanId]).toEqual([CALLER, CALLER])
  /** Expects a call of stats and the corresponding span of the other service. */
  async function expectCall(name: string, parent: ReceivedSpan) {
    const call = await waitUntil(() =>
      mine().find((span) => span.service === 'stats' && span.name === name && span.parentSpanId === parent.spanId),
    )
    const answered = await waitUntil(() => mine().find((span) => span.parentSpanId === call.spanId))
    expect([call.kind, answered.kind, answered.service]).toEqual([3, 2, name])
  }
  await expectCall('kv', put)
  await expectCall('youtube', read)
  expect((await started.stop()).code).toBe(0)
})
