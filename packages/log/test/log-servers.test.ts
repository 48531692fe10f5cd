import { StorageType, type JetStreamAccountStats, type StreamInfo } from '@nats-io/jetstream'
import { Registry } from '@influencer-stats/runtime/prom-client'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { describe, expect, it } from 'vitest'
import { toLogServers } from '../src/jetstream/stream/server-reporter.ts'
import { registerServers } from '../src/log-metrics.ts'
import { createLogStateMemory, getSharedAvailability, getSharedLogServers } from '../src/log-state.ts'
import type { LogServers } from '../src/status/log-servers.ts'
import { SharedJson } from '../src/status/shared-json.ts'

const REPORTED_AT_MS = Date.UTC(2026, 10, 27, 8)
const ago = (ms: number) => new Date(REPORTED_AT_MS - ms).toISOString()
const toNanos = (ms: number) => ms * 1e6

/** @param config of the stream, if it differs */
function createInfo(cluster: object | undefined, config: object = {}): StreamInfo {
  const defaults = { name: 'kv', max_bytes: -1, storage: StorageType.File, num_replicas: 3 }
  return { config: { ...defaults, ...config }, state: { bytes: 512 }, cluster } as StreamInfo
}

function createUsage(maxStorage: number, maxMemory = -1): JetStreamAccountStats {
  return {
    storage: 900,
    memory: 70,
    limits: { max_storage: maxStorage, max_memory: maxMemory },
  } as JetStreamAccountStats
}

describe('servers of a report', () => {
  it('are the leader, and the replicas by name with their lag and last contact', () => {
    const info = createInfo({
      leader: 'b',
      replicas: [
        { name: 'd', current: true, offline: false, active: toNanos(3_500), lag: 9 },
        { name: 'c', current: false, offline: false, active: toNanos(900), lag: 7 },
        { name: 'a', current: true, offline: false, active: toNanos(400) },
        { name: 'e', current: false, offline: true, active: 0, lag: 12 },
      ],
    })
    expect(toLogServers(info, { now: REPORTED_AT_MS })).toEqual({
      stream: 'kv',
      servers: [
        { name: 'b', role: 'leader', state: 'current', lag: 0, lastContactAt: ago(0) },
        { name: 'a', role: 'replica', state: 'current', lag: 0, lastContactAt: ago(400) },
        { name: 'c', role: 'replica', state: 'behind', lag: 7, lastContactAt: ago(900) },
        { name: 'd', role: 'replica', state: 'offline', lag: 9, lastContactAt: ago(3_500) },
        // The leader has not seen it since its election.
        { name: 'e', role: 'replica', state: 'offline', lag: 12 },
      ],
      bytes: 512,
      observedAt: ago(0),
    })
  })

  it('are the server of the connection if it has no cluster', () => {
    expect(toLogServers(createInfo(undefined), { now: REPORTED_AT_MS, name: 'only' }).servers).toMatchObject([
      { name: 'only', role: 'leader', state: 'current' },
    ])
  })

  it.each([
    ['of the stream', { max_bytes: 1_000 }, createUsage(-1), { scope: 'stream', usedBytes: 512, maxBytes: 1_000 }],
    ['of the account', {}, createUsage(4_000), { scope: 'account', usedBytes: 900, maxBytes: 4_000 }],
    [
      'of the memory',
      { storage: StorageType.Memory },
      createUsage(4_000, 80),
      { scope: 'account', usedBytes: 70, maxBytes: 80 },
    ],
    [
      'of the tier',
      {},
      { ...createUsage(-1), tiers: { R3: createUsage(5_000) } },
      { scope: 'account', usedBytes: 900, maxBytes: 5_000 },
    ],
    ['none', {}, createUsage(-1), { scope: 'none' }],
    ['unknown', {}, undefined, undefined],
  ])('have the limit %s', (_title, config, account, limit) => {
    expect(toLogServers(createInfo({ leader: 'a' }, config), { now: REPORTED_AT_MS, account }).limit).toEqual(limit)
  })
})

describe('servers in shared memory', () => {
  const servers: LogServers = {
    stream: 'kv',
    servers: [
      { name: 'a', role: 'leader', state: 'current', lag: 0, lastContactAt: ago(0) },
      { name: 'b', role: 'replica', state: 'offline', lag: 5 },
    ],
    bytes: 512,
    observedAt: ago(0),
  }

  it('are unknown once the report is old, with their last contacts', () => {
    const memory = createLogStateMemory()
    const shared = getSharedLogServers(memory)
    expect(shared.read()).toBeUndefined()
    shared.write({ stream: 'kv', servers: [] })
    expect(shared.read()).toEqual({ stream: 'kv', servers: [] })
    shared.write(servers, steadyNow())
    expect(getSharedLogServers(memory).read()).toEqual(servers)
    shared.write(servers, steadyNow() - 60_000)
    expect(shared.read()).toEqual({
      ...servers,
      servers: [
        { name: 'a', role: 'unknown', state: 'unknown', lastContactAt: ago(0) },
        { name: 'b', role: 'unknown', state: 'unknown' },
      ],
    })
  })

  it('do not change the availability, and are left out if they are too large', () => {
    const memory = createLogStateMemory()
    const fault = { code: 'LOG_LOST', detail: 'stream kv does not exist', since: ago(0) } as const
    const availability = getSharedAvailability(memory)
    availability.write(fault)
    availability.isEmpty = true
    const shared = getSharedLogServers(memory)
    for (const count of [5, 200, 1]) {
      const many = Array.from({ length: count }, () => ({ ...servers.servers[0]!, name: 'é'.repeat(128) }))
      shared.write({ ...servers, servers: many }, steadyNow())
      expect(shared.read()?.servers.length).toBe(count === 200 ? undefined : count)
      expect([availability.read(), availability.isEmpty]).toEqual([fault, true])
    }
    availability.isEmpty = false
    availability.write({ code: 'READY' })
    expect([availability.read(), availability.isEmpty]).toEqual([undefined, false])
    expect(shared.read()?.servers.length).toBe(1)
  })
})

it('a shared value is the last one that fits into its slot', () => {
  const shared = new SharedJson<string>(new SharedArrayBuffer(8 + SharedJson.getSize(16)), 8, 16)
  expect(shared.read()).toBeUndefined()
  for (const value of ['first', 'x'.repeat(12), 'é'.repeat(6)]) {
    shared.write(value)
    expect(shared.read()).toBe(value)
  }
  for (const value of ['x'.repeat(13), 'é'.repeat(7), undefined]) {
    shared.write(value)
    expect(shared.read()).toBeUndefined()
  }
})

it('the metric has one series for each state, and none before the first report', async () => {
  const registry = new Registry()
  const known: { servers?: LogServers } = {}
  registerServers(registry, 'kv', () => known.servers)
  expect(await registry.metrics()).not.toMatch(/^kv_log_servers/m)
  known.servers = { stream: 'kv', servers: [{ name: 'a', role: 'replica', state: 'offline' }] }
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('kv_log_servers'))
  expect(lines).toEqual(
    ['current"} 0', 'behind"} 0', 'offline"} 1', 'unknown"} 0'].map((end) => `kv_log_servers{state="${end}`),
  )
})
