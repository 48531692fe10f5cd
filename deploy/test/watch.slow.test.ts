import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findFaults, readExposition } from './support/exposition.ts'
import { findMetricNames, readAlertQueries, readPanelQueries } from './support/queries.ts'

const DEPLOY = fileURLToPath(new URL('..', import.meta.url))
const PROMTOOL = process.env.PROMTOOL ?? 'promtool'
const COLLECTION = '/collections/99757a95-f758-499f-a170-bea93b2d8bcf'
const JSON_TYPE = { 'content-type': 'application/json' }

/** Runs promtool; returns `undefined` if it is not installed. */
function runPromtool(args: readonly string[], input = ''): { status: number | null; output: string } | undefined {
  const { error, status, stdout, stderr } = spawnSync(PROMTOOL, args, { input, encoding: 'utf8', cwd: DEPLOY })
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined
  return { status, output: stdout + stderr }
}

/** Starts all services, sends requests to stats and kv, and returns the text of `/metrics` of each service. */
async function readAllMetrics(): Promise<Map<string, string>> {
  const args = ['--port', '0', '--data', createTemporaryFolder(), '--log-level', 'warn', '--sample', 'no']
  const started = spawnStart(args, {}, { script: START_SCRIPT })
  const rows = await started.waitUntilReady()
  const { stats, kv } = rows
  const body = JSON.stringify({ videos: ['-4lB5EKS5Uk'] })
  expect((await fetch(stats!.url + COLLECTION, { method: 'PUT', headers: JSON_TYPE, body })).status).toBe(201)
  expect((await fetch(`${stats!.url}${COLLECTION}/stats`)).status).toBe(200)
  expect((await fetch(`${kv!.url}/v0/entity?id=a`, { method: 'PUT', body: 'b' })).status).toBe(201)
  const textOf = async (url: string) => (await fetch(`${url}/metrics`)).text()
  /** A scrape does not wait long for a busy thread. */
  const completeTextOf = (url: string) =>
    waitUntil(async () => {
      const text = await textOf(url)
      return text.includes('\nthread_event_loop_lag_seconds{thread="0"}') && text
    })
  await waitUntil(async () => (await textOf(stats!.url)).includes('upstream="sse",status="200"'))
  const texts = await Promise.all(
    Object.entries(rows).map(async ([name, { url }]) => [name, await completeTextOf(url)] as const),
  )
  expect((await started.stop()).code).toBe(0)
  return new Map(texts)
}

/** Metrics of cluster nodes and of certificates, which there are none of here. */
const ABSENT_METRICS = /^((kv|prices|sse|stats)_log_|stats_source_mismatch$|tls_certificate_)/

test('metrics have the form that Prometheus requires, and dashboard and alerts use only existing ones', async () => {
  const texts = await readAllMetrics()
  expect([...texts.keys()].toSorted()).toEqual(['dashboard', 'kv', 'prices', 'sse', 'stats', 'youtube'])
  const known = new Set(['up'])
  for (const [service, text] of texts) {
    const families = readExposition(text)
    expect(families.flatMap(findFaults)).toEqual([])
    const checked = runPromtool(['check', 'metrics'], text)
    if (checked) expect(checked).toEqual({ status: 0, output: '' })
    for (const { name, samples } of families) for (const one of [name, ...samples]) known.add(one)
    expect(text).toMatch(
      new RegExp(`^influencer_stats_build_info\\{service="${service}",version="[\\d.]+",node="v24`, 'm'),
    )
    const [, startedAt] = /^process_start_time_seconds (\d+)/m.exec(text)!
    expect(Date.now() / 1_000 - Number(startedAt)).toBeLessThan(120)
    expect(text).toMatch(/^thread_event_loop_lag_seconds\{thread="0"\} /m)
  }
  expect(texts.get('stats')).toMatch(/^upstream_request_duration_seconds_count\{upstream="youtube",status="200"\} \d/m)

  const [queries, rules] = [readPanelQueries().map(({ expr }) => expr), readAlertQueries()]
  expect(rules).toHaveLength(24)
  expect(queries.length).toBeGreaterThan(30)
  for (const query of [...queries, ...rules]) {
    expect(findMetricNames(query)).not.toEqual([])
    expect(findMetricNames(query).filter((name) => !known.has(name) && !ABSENT_METRICS.test(name))).toEqual([])
  }

  // The metrics that the pages of the dashboard show, except those of cluster nodes.
  const screens = `${DEPLOY}/../packages/dashboard/src/page/screens`
  const page = ['health', 'health-node'].map((name) => readFileSync(`${screens}/${name}.ts`, 'utf8')).join('')
  const shown = Array.from(page.matchAll(/'((?:kv|prices|sse|stats)_(?!log_|poller_leader)\w+)'/g), ([, name]) => name!)
  expect(shown.length).toBeGreaterThan(8)
  expect(shown.filter((name) => !known.has(name))).toEqual([])
})

test('each alert fires when it should, and none where all is well', () => {
  const rules = readFileSync(`${DEPLOY}/prometheus/alerts.yml`, 'utf8')
  const cases = readFileSync(`${DEPLOY}/prometheus/alerts.test.yml`, 'utf8')
  // Each alert has a test case in which it fires, and one in which it does not.
  for (const [, name] of rules.matchAll(/alert: (\w+)/g)) {
    expect(cases).toMatch(new RegExp(`alertname: ${name} \\}`))
    expect(cases).toMatch(new RegExp(`alertname: ${name}\\n +exp_alerts:\\n`))
  }
  const tested = runPromtool(['test', 'rules', 'prometheus/alerts.test.yml'])
  if (tested) expect(tested).toMatchObject({ status: 0 })
})
