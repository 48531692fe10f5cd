import { jetstream } from '@nats-io/jetstream'
import { Kvm, type KV } from '@nats-io/kv'
import { connect } from '@nats-io/transport-node'
import { setTimeout as delay } from 'node:timers/promises'
import { inOwnProcess } from './common/own-process.ts'
import { Microseconds } from './common/tally.ts'
import type { LoadPlan } from './load.ts'
import { randomOf } from './requests/drawers.ts'
import { randomId, randomValue } from './requests/kv-entries.ts'

/** Random entries that are put into a bucket of NATS KV by its own client, one after the other on each connection. */
export interface NatsPutsPlan extends Pick<LoadPlan, 'connections' | 'duration' | 'warmUp'> {
  readonly urls: readonly string[]
}

const BUCKET = 'bench'
// ms
const READY_WITHIN = 30_000
/** As long as a node of ours waits for the log. */
const PUT_TIMEOUT = 10_000
const RETRY_EVERY = 250

/** Every server has as many of the connections as the others. */
export async function natsPutsHere({ urls, connections, duration, warmUp }: NatsPutsPlan) {
  const clients = await Promise.all(
    Array.from({ length: connections }, (_, i) => connect({ servers: urls[i % urls.length]! })),
  )
  try {
    // Each would ask its server first whether it has JetStream: those that have just started say no, or nothing.
    const managers = clients.map((client) => new Kvm(jetstream(client, { checkAPI: false, timeout: PUT_TIMEOUT })))
    await makeBucket(managers[0]!, urls.length)
    const buckets = await Promise.all(managers.map((manager) => manager.open(BUCKET)))
    if (warmUp > 0) await put(buckets, warmUp)
    return await put(buckets, duration)
  } finally {
    await Promise.all(clients.map((client) => client.close()))
  }
}

/** Servers that have just started have no leader yet, and say so in several ways. */
async function makeBucket(manager: Kvm, replicas: number): Promise<void> {
  for (const deadline = performance.now() + READY_WITHIN; ; await delay(RETRY_EVERY)) {
    try {
      return void (await manager.create(BUCKET, { replicas }))
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
  }
}

/** @throws Error when a put was refused, or what was put is not there */
export const runNatsPuts = inOwnProcess(import.meta.url, natsPutsHere)

async function put(buckets: readonly KV[], seconds: number) {
  const random = randomOf(Math.random() * 2 ** 32)
  const times = new Microseconds()
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  const until = began + seconds * 1000
  let requests = 0
  async function puts(bucket: KV): Promise<void> {
    for (let now = performance.now(); now < until; requests++) {
      await bucket.put(randomId(random), randomValue(random))
      const then = performance.now()
      times.record(then - now)
      now = then
    }
  }
  await Promise.all(buckets.map(puts))
  const took = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  await prove(buckets[0]!, randomValue(random))
  return { requests, perSecond: requests / took, latency: times.latency(), cpu: (user + system) / 1e6 / took }
}

async function prove(bucket: KV, value: string): Promise<void> {
  await bucket.put('proof', value)
  if ((await bucket.get('proof'))?.string() !== value) throw new Error('what was put is not there')
}
