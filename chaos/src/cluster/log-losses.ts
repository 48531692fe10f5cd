import { encodeFrame } from '@influencer-stats/log/frame'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { SeededRandom } from '../random.ts'
import type { ChaosCluster } from './cluster.ts'

/** Codes of nodes that cannot take writes until the log is rescued. */
const LOST_CODES = new Set(['LOG_LOST', 'LOG_FORMAT_UNKNOWN', 'LOG_DAMAGED', 'LOG_TRIMMED'])
/** Time after which servers that came back empty have either recovered the stream or lost it (ms). */
const SETTLE_TIMEOUT_MS = 45_000

export interface LossContext {
  readonly service: string
  readonly cluster: ChaosCluster
  readonly random: SeededRandom
  /** Resolves once more writes were acknowledged. */
  waitForProgress(): Promise<unknown>
}

/** A loss of the log of a cluster, after which one command continues it. */
export interface LogLoss {
  readonly name: string
  /** Causes the loss. Resolves when NATS is available again, and the nodes cannot use the log, if it is lost. */
  run(context: LossContext): Promise<void>
}

export const logLosses: readonly LogLoss[] = [
  {
    name: 'stream deleted',
    async run({ service, cluster }) {
      const nc = await connect({ servers: cluster.servers.map(({ url }) => url) })
      await (await jetstreamManager(nc, { checkAPI: false })).streams.delete(service)
      await nc.close()
      await waitForLoss(cluster)
    },
  },
  {
    name: 'all stores lost',
    async run({ cluster }) {
      const { servers } = cluster
      await Promise.all(servers.map((server) => server.stop('SIGKILL')))
      await Promise.all(servers.map(({ store }) => rm(store, { recursive: true })))
      await Promise.all(servers.map((server) => server.restart()))
      await waitForLoss(cluster)
    },
  },
  {
    name: 'quorum lost',
    async run({ cluster, random }) {
      const survivor = random.one(cluster.servers)
      const lost = cluster.servers.filter((server) => server !== survivor)
      await Promise.all(lost.map((server) => server.stop('SIGKILL')))
      await Promise.all(lost.map(({ store }) => rm(store, { recursive: true })))
      await waitForCodes(cluster, (code) => code !== undefined)
      await Promise.all(lost.map((server) => server.restart()))
      // The survivor may give the stream to the new servers, or lose it to them.
      const startedAt = performance.now()
      await waitForCodes(
        cluster,
        (code) => isLost(code) || code === undefined || performance.now() - startedAt > SETTLE_TIMEOUT_MS,
      )
    },
  },
  {
    name: 'poisoned log',
    async run({ service, cluster, waitForProgress }) {
      const nc = await connect({ servers: cluster.servers.map(({ url }) => url) })
      const publish = (data: Buffer) => jetstream(nc).publish(`log.${service}`, data)
      const entries = [{ kind: 254, term: 0, body: Buffer.alloc(2_000, 'x') }]
      const [first] = encodeFrame({ writer: 'ee'.repeat(8), number: 1, entries }, 1_000)
      const damaged = Buffer.from(first!)
      damaged[20]! ^= 1
      // All nodes skip these.
      for (const data of [Buffer.from('hello'), first!, damaged, Buffer.alloc(0), first!]) {
        await publish(data)
        await waitForProgress()
      }
      await publish(toNewerFormat(first!))
      await nc.close()
      await waitForLoss(cluster)
    },
  },
]

const isLost = (code: string | undefined) => code !== undefined && LOST_CODES.has(code)

const waitForLoss = (cluster: ChaosCluster) => waitForCodes(cluster, isLost)

/** Waits until all nodes report such a code in `/readyz`; undefined stands for a node that takes writes. */
async function waitForCodes({ nodes }: ChaosCluster, matches: (code: string | undefined) => boolean): Promise<void> {
  for (const { url } of nodes)
    await waitUntil(async () => {
      const writes = await readWrites(url).catch(() => undefined)
      return writes !== undefined && matches(writes.code)
    })
}

async function readWrites(url: string): Promise<{ readonly code?: string } | undefined> {
  const body = (await (await fetch(`${url}/readyz`)).json()) as { writes?: { code?: string } }
  return body.writes
}

/** Returns an intact message of the next version of the format. */
function toNewerFormat(message: Buffer): Buffer {
  const newer = Buffer.from(message)
  newer[1]!++
  newer.writeUInt32BE(crc32(newer.subarray(10), crc32(newer.subarray(0, 6))), 6)
  return newer
}
