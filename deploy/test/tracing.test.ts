import { startCollector, type ReceivedSpan } from '@influencer-stats/runtime/testing/collector'
import { HOUSE, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { expect, test } from 'vitest'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'

test('what is done for a request in several services is one trace', async () => {
  const collector = await startCollector()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  const common = ['--port', '0', '--data', temporaryFolder(), '--log-level', 'warn']
  const chosen = ['--stats.state', 'kv', '--stats.cache', 'lru']
  const started = spawnStart(['stats', 'sse', 'kv', ...common, ...chosen], env, { script: HOUSE })
  const { stats } = await started.ready()
  const headers = { 'content-type': 'application/json', traceparent: `00-${TRACE_ID}-${CALLER}-01` }
  const url = `${stats!.url}/collections/c`
  expect((await fetch(url, { method: 'PUT', headers, body: '{"videos":["-4lB5EKS5Uk"]}' })).status).toBe(201)
  expect((await fetch(`${url}/stats`, { headers })).status).toBe(200)

  const mine = () => collector.spans.filter(({ traceId }) => traceId === TRACE_ID)
  const find = (service: string, name: RegExp) =>
    mine().find((span) => span.service === service && name.test(span.name))
  const put = await until(() => find('stats', /^PUT \/collections\/:id$/))
  const read = await until(() => find('stats', /^GET \/collections\/:id\/stats$/))
  expect([put.parentSpanId, read.parentSpanId]).toEqual([CALLER, CALLER])
  /** A call of stats and what the other service did of it. */
  async function expectCall(name: string, parent: ReceivedSpan) {
    const call = await until(() =>
      mine().find((span) => span.service === 'stats' && span.name === name && span.parentSpanId === parent.spanId),
    )
    const answered = await until(() => mine().find((span) => span.parentSpanId === call.spanId))
    expect([call.kind, answered.kind, answered.service]).toEqual([3, 2, name])
  }
  await expectCall('kv', put)
  await expectCall('youtube', read)
  expect((await started.stop()).code).toBe(0)
})
