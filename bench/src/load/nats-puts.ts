import { jetstream } from '@nats-io/jetstream'
import { Kvm, type KV } from '@nats-io/kv'
import { connect } from '@nats-io/transport-node'
import { setTimeout as delay } from 'node:timers/promises'
import { startOwnMeter } from '../processes.ts'
import { createProcessRunner } from './common/process-runner.ts'
import { LatencyHistogram } from './common/tally.ts'
import type { LoadPlan } from './load-plan.ts'
import { createRandom } from './requests/drawers.ts'
import { drawId, drawValue } from './requests/kv-entries.ts'

/** A run in which the client of NATS KV puts random entries into a bucket, one after the other on each connection. */
export interface NatsPutsPlan extends Pick<LoadPlan, 'connections' | 'duration' | 'warmUp'> {
  readonly urls: readonly string[]
}

const BUCKET = 'bench'
/** Time in which servers that have just started must be ready (ms). */
const READY_TIMEOUT_MS = 30_000
/** Timeout of a put (ms). */
const PUT_TIMEOUT_MS = 10_000
const RETRY_INTERVAL_MS = 250

/** Measures puts. The connections are spread equally over the servers. */
export async function measureNatsPuts({ urls, connections, duration, warmUp }: NatsPutsPlan) {
  const clients = await Promise.all(
    Array.from({ length: connections }, (_, i) => connect({ servers: urls[i % urls.length]! })),
  )
  try {
    // The check of the API is off, because servers that have just started deny JetStream or do not respond.
    const managers = clients.map((client) => new Kvm(jetstream(client, { checkAPI: false, timeout: PUT_TIMEOUT_MS })))
    await retryUntilReady(() => managers[0]!.create(BUCKET, { replicas: urls.length }))
    const buckets = await Promise.all(managers.map((manager) => retryUntilReady(() => manager.open(BUCKET))))
    if (warmUp > 0) await measurePuts(buckets, warmUp)
    return await measurePuts(buckets, duration)
  } finally {
    await Promise.all(clients.map((client) => client.close()))
  }
}

/** Retries after any error: servers that have just started have no leader, and each enables JetStream at its own time. */
async function retryUntilReady<T>(call: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + READY_TIMEOUT_MS; ; await delay(RETRY_INTERVAL_MS)) {
    try {
      return await call()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
  }
}

/** Measures puts in a new process. @throws Error if a put was refused, or if a value cannot be read afterwards */
export const runNatsPuts = createProcessRunner(import.meta.url, measureNatsPuts)

async function measurePuts(buckets: readonly KV[], seconds: number) {
  const random = createRandom(Math.random() * 2 ** 32)
  const times = new LatencyHistogram()
  const readMeter = startOwnMeter()
  const until = performance.now() + seconds * 1000
  let requests = 0
  async function putRepeatedly(bucket: KV): Promise<void> {
    for (let now = performance.now(); now < until; requests++) {
      await bucket.put(drawId(random), drawValue(random))
      const then = performance.now()
      times.record(then - now)
      now = then
    }
  }
  await Promise.all(buckets.map(putRepeatedly))
  const { seconds: took, cpu } = readMeter()
  await checkBucket(buckets[0]!, drawValue(random))
  return { requests, perSecond: requests / took, latency: times.toLatency(), cpu }
}

async function checkBucket(bucket: KV, value: string): Promise<void> {
  await bucket.put('proof', value)
  if ((await bucket.get('proof'))?.string() !== value) throw new Error('a value that was put cannot be read')
}
