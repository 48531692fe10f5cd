import { createKvClient } from '@influencer-stats/kv/client'
import { decodeFrame, encodeFrame, readPart } from '@influencer-stats/log/frame'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { randomBytes } from 'node:crypto'
import { clusterContender, natsContender, startCluster, type Cluster } from '../contenders/cluster.ts'
import { asOne, noServer, type Contender, type Running } from '../contenders/contender.ts'
import { putEntries } from '../contenders/kv.ts'
import { etcdCluster } from '../contenders/peers.ts'
import { Microseconds } from '../load/common/tally.ts'
import type { LoadResult } from '../load/load.ts'
import { runNatsPuts } from '../load/nats-puts.ts'
import { GROUP, MILLION, SMALL } from '../load/requests/kv-entries.ts'
import { PINS } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { hundredth, ms, tenth, whole } from '../report/numbers.ts'
import { ask, shareOf, watched } from '../rounds/requests.ts'
import type { Figures, How, Row } from '../row.ts'
import { connectionsText, proveReads, proveWrites, requestsOf } from './kv.ts'
import type { OwnTable } from './table.ts'

const CONNECTIONS = [1, 16, 64, 256]
/** Of all that write while something else is looked at. */
const [FEW, MANY] = [16, 64]

// Requests to three that serve the same.

type Loaded = Pick<LoadResult, 'requests' | 'perSecond' | 'latency' | 'cpu'>

/** A warm-up, and a closed loop. @param each what one request does so many of */
async function loaded(
  running: Running,
  load: (seconds: number) => Promise<Loaded>,
  how: How,
  each = 1,
): Promise<Figures> {
  await load(how.warmUp)
  const { costs, below, perSecond, latency, cpu } = await watched(running, () => load(how.duration))
  return {
    cpu: (costs + below) / each,
    ...(below > 0 && { own: costs / each, below: below / each }),
    perSecond: perSecond * each,
    p50: ms(latency.p50),
    p99: ms(latency.p99),
    generator: cpu,
  }
}

type Asked = Omit<ReturnType<typeof requestsOf>, 'says'>

const requesting = (name: string, contender: Contender, requests: Asked, each?: number): Row => ({
  name,
  contender,
  round: (running, how) =>
    loaded(running, (seconds) => ask(running, requests, { duration: seconds, warmUp: 0 }), how, each),
})

const puts = (connections: number, drawer?: string) => requestsOf({ method: 'PUT', entries: 0, connections, drawer })

const ours = (name: string, requests: Asked, each?: number): Row => ({
  ...requesting(name, clusterContender, requests, each),
  prepare: proveWrites,
})

const nats = (connections: number): Row => ({
  name: `NATS KV, ${connectionsText(connections)}`,
  contender: natsContender,
  round(running, how) {
    const urls = [running.url, ...running.others!]
    return loaded(running, (duration) => runNatsPuts({ urls, connections, duration, warmUp: 0, pin: PINS.client }), how)
  },
})

const etcd = (connections: number): Row =>
  requesting(`etcd, ${connectionsText(connections)}`, etcdCluster, {
    ...puts(connections, 'etcd-put'),
    expect: { status: 200 },
  })

const linearizable: Row = {
  ...requesting('kv, linearizable GET', clusterContender, {
    ...requestsOf({ method: 'GET', entries: SMALL, connections: MANY, drawer: 'kv-get-linearizable' }),
  }),
  async prepare(running) {
    await putEntries(running.url, SMALL)
    await proveReads(SMALL)(running)
  },
}

const WRITES: Columns = {
  cpu: { head: 'CPU us each', format: tenth, of: 'spread', ratio: true, plot: 'Processor time, all of it (us each)' },
  own: { head: 'of it nodes', format: tenth },
  below: { head: 'of it NATS', format: tenth },
  perSecond: { head: 'a second', format: whole, of: 'spread', ratio: true, plot: 'How many a second' },
  p50: { head: 'p50 ms', format: hundredth },
  p99: { head: 'p99 ms', format: hundredth },
  generator: { head: 'generator CPU', format: shareOf, of: 'max' },
}

/** Ours over as many connections. */
const beside = (names: readonly string[]) =>
  names.filter((name) => !name.startsWith('kv')).map((name) => [name.replace(/^[^,]+/, 'kv'), name] as const)

const writes: OwnTable = {
  name: 'writes',
  title:
    'Random entries of 100-200 bytes, put through three nodes on three servers of NATS that keep each on all and sync it; NATS KV: by its own client, on the same servers; etcd: three members, by their gateway; connections spread over all three, generator on one of two processors, the others on both',
  when: 'named',
  columns: WRITES,
  steps: beside,
  rows: () => [
    ...CONNECTIONS.map((count) => ours(`kv, ${connectionsText(count)}`, puts(count))),
    ...CONNECTIONS.map(nats),
    ...CONNECTIONS.map(etcd),
    ours(
      `kv, groups of ${whole(GROUP)}, ${FEW} connections`,
      { ...puts(FEW, 'kv-batch'), expect: { status: 200 } },
      GROUP,
    ),
    linearizable,
  ],
}

// What a node makes of the log.

/** A cluster of its own for each round. */
const clustered = (
  name: string,
  measure: (cluster: Cluster, how: How) => Promise<Figures>,
  settings?: Readonly<Record<string, string>>,
): Row => ({
  name,
  contender: noServer('kv, three nodes'),
  async round(_running, how) {
    const cluster = await startCluster(settings)
    try {
      return await measure(cluster, how)
    } finally {
      await cluster.stop()
    }
  },
})

/** Those that still run. */
const writers = (nodes: readonly Running[]): Running => asOne(nodes, async () => {})

/** From the answer to a write on one node until a read of it on another is answered, at half of what all can write. */
async function lag({ nodes }: Cluster, { duration, warmUp }: How): Promise<Figures> {
  const all = writers(nodes)
  const { perSecond } = await ask(all, puts(MANY), { duration, warmUp })
  const [here, there] = nodes.map(({ url }) => createKvClient(url, { connections: 1 }))
  const times = new Microseconds()
  const rate = Math.max(1, Math.floor(perSecond / 2))
  let isOver = false
  const load = ask(all, puts(MANY), { duration: 2 * duration, warmUp, rate }).finally(() => (isOver = true))
  // Its failure is told below; a read that fails first must not leave it unheard.
  load.catch(() => {})
  try {
    for (let count = 0; !isOver; count++) {
      await here!.put('probe', String(count))
      const began = performance.now()
      const found = await there!.get('probe', { after: here!.sequence! })
      times.record(performance.now() - began)
      if (String(found?.value) !== String(count)) throw new Error('a read did not see what it was to see')
    }
  } finally {
    await Promise.all([here, there].map((client) => client!.close()))
  }
  await load
  return { perSecond: rate, p50: ms(times.at(50)), p99: ms(times.at(99)) }
}

async function onServers<T>({ servers }: Cluster, run: (nats: NatsConnection) => Promise<T>): Promise<T> {
  const nats = await connect({ servers: servers.map(({ url }) => url) })
  try {
    return await run(nats)
  } finally {
    await nats.close()
  }
}

/** Two seconds' worth at what is asked of a node: a start takes now longer, now shorter by a tenth of that. */
const FRAMES = 50_000
const AT_ONCE = 256
const [BEFORE, LAST] = ['.'.repeat(150), 'last']

/** Frames of one write each as a node would write them, many at once: one after the other they would take minutes. */
async function writeFrames(cluster: Cluster, client: ReturnType<typeof createKvClient>): Promise<void> {
  await onServers(cluster, async (nats) => {
    const manager = await jetstreamManager(nats)
    /** As they stand in the frame that a put becomes. */
    async function entriesOf(value: string) {
      await client.put('frame', value)
      const { data } = (await manager.streams.getMessage('kv', { seq: client.sequence! }))!
      return decodeFrame(readPart(Buffer.from(data)).piece).entries
    }
    const [entries, last] = [await entriesOf(BEFORE), await entriesOf(LAST)]
    const writer = randomBytes(8).toString('hex')
    const send = (number: number) => {
      const [message] = encodeFrame(
        { writer, number, entries: number < FRAMES ? entries : last },
        nats.info!.max_payload,
      )
      return jetstream(nats).publish('log.kv', message)
    }
    for (let sent = 0; sent < FRAMES; sent += AT_ONCE) {
      const count = Math.min(AT_ONCE, FRAMES - sent)
      await Promise.all(Array.from({ length: count }, (_, i) => send(sent + i + 1)))
    }
  })
}

/** What a start takes longer by for the frames that were written while its node was away. */
async function catchUp(cluster: Cluster): Promise<Figures> {
  const { nodes, startNode } = cluster
  const client = createKvClient(nodes[0]!.url)
  await nodes[2]!.stop()
  const idle = await startNode('node-3')
  await idle.stop()
  await writeFrames(cluster, client)
  const late = await startNode('node-3')
  const proof = createKvClient(late.url)
  try {
    // A frame counts only after all those before it.
    if (String((await proof.get('frame'))?.value) !== LAST) throw new Error('the node has not caught up')
    const seconds = (late.readyIn! - idle.readyIn!) / 1000
    if (seconds <= 0) throw new Error(`${FRAMES} frames are too few to tell how long they take`)
    return { frames: FRAMES, seconds, perSecond: FRAMES / seconds }
  } finally {
    await Promise.all([proof.close(), client.close()])
    await late.stop()
  }
}

const SNAPSHOT_EVERY = Math.max(10, Math.ceil(MILLION / GROUP / 4))
const TRIMMED_WITHIN = 180_000

/** Writes until the log no longer begins where it began: then a new node needs a snapshot. */
async function untilTrimmed(cluster: Cluster): Promise<void> {
  await onServers(cluster, async (nats) => {
    const manager = await jetstreamManager(nats)
    const deadline = performance.now() + TRIMMED_WITHIN
    while ((await manager.streams.info('kv')).state.first_seq <= 1) {
      if (performance.now() > deadline) throw new Error('no snapshot was taken')
      await ask(cluster.nodes[0]!, puts(1), { duration: 1, warmUp: 0 })
    }
  })
}

/** What a node without anything takes until it is ready, while others write. */
async function fromSnapshot(cluster: Cluster): Promise<Figures> {
  await putEntries(cluster.nodes[0]!.url, MILLION)
  await untilTrimmed(cluster)
  const all = writers(cluster.nodes)
  let isReady = false
  async function write(): Promise<number> {
    let written = 0
    while (!isReady) written += (await ask(all, puts(FEW), { duration: 1, warmUp: 0 })).requests
    return written
  }
  const began = performance.now()
  const writing = write()
  writing.catch(() => {})
  const fresh = await cluster.startNode('node-4').finally(() => (isReady = true))
  try {
    const seconds = fresh.readyIn! / 1000
    const writes = (await writing) / ((performance.now() - began) / 1000)
    await proveReads(MILLION)(fresh)
    return { entries: MILLION, seconds, perSecond: writes }
  } finally {
    await fresh.stop()
  }
}

const views: OwnTable = {
  name: 'views',
  title:
    'What a node makes of the log: how far it is behind while others write, and how soon it is there after it was away, or with nothing; a second: writes meanwhile, or frames that were caught up with',
  when: 'named',
  columns: {
    perSecond: { head: 'a second', format: whole, of: 'spread' },
    p50: { head: 'lag p50 ms', format: hundredth },
    p99: { head: 'lag p99 ms', format: hundredth, of: 'spread' },
    frames: { head: 'frames', format: whole },
    entries: { head: 'entries', format: whole },
    seconds: { head: 'ready in s', format: hundredth, of: 'spread' },
  },
  rows: () => [
    clustered('lag of another node at half load', lag),
    clustered('catching up', catchUp),
    clustered('a new node, from a snapshot', fromSnapshot, { snapshotIntervalEntries: String(SNAPSHOT_EVERY) }),
  ],
}

export const tables: readonly OwnTable[] = [writes, views]
