import { createKvClient } from '@influencer-stats/kv/client'
import { decodeFrame, encodeFrame, readPart } from '@influencer-stats/log/frame'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { randomBytes } from 'node:crypto'
import { startCluster, type KvCluster } from '../targets/cluster.ts'
import { combineProcesses, createServerlessTarget, type TargetProcess } from '../targets/target.ts'
import { putEntries } from '../targets/kv.ts'
import { LatencyHistogram } from '../load/common/tally.ts'
import { BATCH_ENTRIES, NEW_NODE_ENTRIES } from '../load/requests/kv-entries.ts'
import { formatHundredth, toMilliseconds, formatWhole } from '../report/format-numbers.ts'
import { runLoad } from '../rounds/request-round.ts'
import type { RowMetrics, RoundOptions, BenchRow } from '../row.ts'
import { checkReads } from './kv.ts'
import { createPuts, LARGE_LOAD_CONNECTIONS, SMALL_LOAD_CONNECTIONS } from './cluster.ts'
import type { ServiceTable } from '../table.ts'

/** Creates a row with a new cluster for each round. */
const createClusterRow = (
  name: string,
  measure: (cluster: KvCluster, how: RoundOptions) => Promise<RowMetrics>,
  settings?: Readonly<Record<string, string>>,
): BenchRow => ({
  name,
  target: createServerlessTarget('kv, three nodes'),
  async round(_running, how) {
    const cluster = await startCluster(settings)
    try {
      return await measure(cluster, how)
    } finally {
      await cluster.stop()
    }
  },
})

/** Combines nodes into one target. */
const combineNodes = (nodes: readonly TargetProcess[]): TargetProcess => combineProcesses(nodes, async () => {})

/** Measures the time from a reply to a write until another node returns it, at half of the write capacity. */
async function measureLag({ nodes }: KvCluster, { duration, warmUp }: RoundOptions): Promise<RowMetrics> {
  const all = combineNodes(nodes)
  const { perSecond } = await runLoad(all, createPuts(LARGE_LOAD_CONNECTIONS), { duration, warmUp })
  const [here, there] = nodes.map(({ url }) => createKvClient(url, { connections: 1 }))
  const times = new LatencyHistogram()
  const rate = Math.max(1, Math.floor(perSecond / 2))
  let isOver = false
  const load = runLoad(all, createPuts(LARGE_LOAD_CONNECTIONS), { duration: 2 * duration, warmUp, rate }).finally(
    () => (isOver = true),
  )
  // `await load` below reports a failure. If a read fails first, the rejection must not be unhandled.
  load.catch(() => {})
  try {
    for (let count = 0; !isOver; count++) {
      await here!.put('probe', String(count))
      const began = performance.now()
      const found = await there!.get('probe', { after: here!.sequence! })
      times.record(performance.now() - began)
      if (String(found?.value) !== String(count)) throw new Error('a read did not return the value that was written')
    }
  } finally {
    await Promise.all([here, there].map((client) => client!.close()))
  }
  await load
  return { perSecond: rate, p50: toMilliseconds(times.getPercentile(50)), p99: toMilliseconds(times.getPercentile(99)) }
}

async function withServers<T>({ servers }: KvCluster, run: (nats: NatsConnection) => Promise<T>): Promise<T> {
  const nats = await connect({ servers: servers.map(({ url }) => url) })
  try {
    return await run(nats)
  } finally {
    await nats.close()
  }
}

/** Number of frames that a node must apply. It takes two seconds; the duration of a start varies by a tenth of that. */
const FRAME_COUNT = 50_000
const MAX_CONCURRENT_FRAMES = 256
const [FILLER_VALUE, LAST_VALUE] = ['.'.repeat(150), 'last']

/** Writes frames of one write each, as a node would, many in parallel: one after the other takes minutes. */
async function writeFrames(cluster: KvCluster, client: ReturnType<typeof createKvClient>): Promise<void> {
  await withServers(cluster, async (nats) => {
    const manager = await jetstreamManager(nats)
    /** Reads the entries from the frame that a put creates. */
    async function readEntries(value: string) {
      await client.put('frame', value)
      const { data } = (await manager.streams.getMessage('kv', { seq: client.sequence! }))!
      return decodeFrame(readPart(Buffer.from(data)).piece).entries
    }
    const [entries, last] = [await readEntries(FILLER_VALUE), await readEntries(LAST_VALUE)]
    const writer = randomBytes(8).toString('hex')
    const send = (number: number) => {
      const [message] = encodeFrame(
        { writer, number, entries: number < FRAME_COUNT ? entries : last },
        nats.info!.max_payload,
      )
      return jetstream(nats).publish('log.kv', message)
    }
    for (let sent = 0; sent < FRAME_COUNT; sent += MAX_CONCURRENT_FRAMES) {
      const count = Math.min(MAX_CONCURRENT_FRAMES, FRAME_COUNT - sent)
      await Promise.all(Array.from({ length: count }, (_, i) => send(sent + i + 1)))
    }
  })
}

/** Measures the additional time of a node's start for the frames that were written while the node was stopped. */
async function measureCatchUp(cluster: KvCluster): Promise<RowMetrics> {
  const { nodes, startNode } = cluster
  const client = createKvClient(nodes[0]!.url)
  await nodes[2]!.stop()
  const idle = await startNode('node-3')
  await idle.stop()
  await writeFrames(cluster, client)
  const late = await startNode('node-3')
  const proof = createKvClient(late.url)
  try {
    // The last frame is visible only after all earlier frames.
    if (String((await proof.get('frame'))?.value) !== LAST_VALUE) throw new Error('the node has not caught up')
    const seconds = (late.readyAfterMs! - idle.readyAfterMs!) / 1000
    if (seconds <= 0) throw new Error(`${FRAME_COUNT} frames are too few to measure their time`)
    return { frames: FRAME_COUNT, seconds, perSecond: FRAME_COUNT / seconds }
  } finally {
    await Promise.all([proof.close(), client.close()])
    await late.stop()
  }
}

const SNAPSHOT_INTERVAL_ENTRIES = Math.max(10, Math.ceil(NEW_NODE_ENTRIES / BATCH_ENTRIES / 4))
const TRIM_TIMEOUT_MS = 180_000

/** Writes until the log drops its first entries, so that a new node needs a snapshot. */
async function writeUntilTrimmed(cluster: KvCluster): Promise<void> {
  await withServers(cluster, async (nats) => {
    const manager = await jetstreamManager(nats)
    const deadline = performance.now() + TRIM_TIMEOUT_MS
    while ((await manager.streams.info('kv')).state.first_seq <= 1) {
      if (performance.now() > deadline) throw new Error('no snapshot was taken')
      await runLoad(cluster.nodes[0]!, createPuts(1), { duration: 1, warmUp: 0 })
    }
  })
}

/** Measures the time until an empty node is ready while clients write to other nodes. */
async function measureSnapshotStart(cluster: KvCluster): Promise<RowMetrics> {
  await putEntries(cluster.nodes[0]!.url, NEW_NODE_ENTRIES)
  await writeUntilTrimmed(cluster)
  const all = combineNodes(cluster.nodes)
  let isReady = false
  async function write(): Promise<number> {
    let written = 0
    while (!isReady)
      written += (await runLoad(all, createPuts(SMALL_LOAD_CONNECTIONS), { duration: 1, warmUp: 0 })).requests
    return written
  }
  const began = performance.now()
  const writing = write()
  writing.catch(() => {})
  const fresh = await cluster.startNode('node-4').finally(() => (isReady = true))
  try {
    const seconds = fresh.readyAfterMs! / 1000
    const writes = (await writing) / ((performance.now() - began) / 1000)
    await checkReads(NEW_NODE_ENTRIES)(fresh)
    return { entries: NEW_NODE_ENTRIES, seconds, perSecond: writes }
  } finally {
    await fresh.stop()
  }
}

/** Result files have the former name `views`. */
const nodes: ServiceTable = {
  name: 'views',
  title:
    'How a node follows the log: its lag while others write, and its time until ready after it was stopped, or without data. The rate is that of writes meanwhile, or of frames that the node catches up with',
  when: 'named',
  columns: {
    perSecond: { head: 'rate/s', format: formatWhole, of: 'spread' },
    p50: { head: 'lag p50 ms', format: formatHundredth },
    p99: { head: 'lag p99 ms', format: formatHundredth, of: 'spread' },
    frames: { head: 'frames', format: formatWhole },
    entries: { head: 'entries', format: formatWhole },
    seconds: { head: 'ready in s', format: formatHundredth, of: 'spread' },
  },
  rows: () => [
    createClusterRow('lag of another node at half load', measureLag),
    createClusterRow('catching up', measureCatchUp),
    createClusterRow('a new node, from a snapshot', measureSnapshotStart, {
      snapshotIntervalEntries: String(SNAPSHOT_INTERVAL_ENTRIES),
    }),
  ],
}

export const tables: readonly ServiceTable[] = [nodes]
