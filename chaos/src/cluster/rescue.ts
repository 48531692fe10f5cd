import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { getUnits, type ServiceSession, type TestedService } from '../services/tested-service.ts'
import type { SeededRandom } from '../random.ts'
import { getReply } from '../ready.ts'
import { getSeconds, WriteLedger } from '../write-ledger.ts'
import { write } from '../write.ts'
import { startCluster, type ChaosCluster } from './cluster.ts'
import type { LogLoss } from './log-losses.ts'
import { startReadPoller } from './read-gaps.ts'

/** A service, and what the scenario reads of it. */
export interface RescuedService {
  readonly subject: TestedService
  readonly settings: Readonly<Record<string, string | number>>
  /** Key that is written once, and then read by the pollers. */
  readonly readKey: string
  readonly readPath: string
  /** Text in every reply to the read. */
  readonly readText: string
  /** Path of a reply with all data of a node. */
  readonly contentPath: string
}

export interface RescueReport {
  readonly service: string
  readonly loss: string
  readonly acknowledged: number
  readonly violations: readonly string[]
  /** Longest time without a successful read, per node (ms). */
  readonly readGaps: readonly number[]
  readonly command: { readonly status: number; readonly output: string }
  readonly seconds: number
}

/** Number of acknowledged writes before the loss, and between its steps. */
const WRITES_BEFORE_LOSS = 300
const WRITES_BETWEEN_STEPS = 20
/** Number of acknowledged writes after the rescue. */
const WRITES_AFTER_RESCUE = 200
/** Pause of a writer after each acknowledged write (ms): the machine also runs six servers. */
const WRITER_PAUSE_MS = 10

const CLUSTER_SCRIPT = fileURLToPath(new URL('../../../scripts/cluster.ts', import.meta.url))

/** Causes a loss under writers, runs the rescue command once, and checks the data of all nodes. */
export async function rescueUnderWriters(
  { subject, settings, readKey, readPath, readText, contentPath }: RescuedService,
  loss: LogLoss,
  random: SeededRandom,
): Promise<RescueReport> {
  const startedAt = performance.now()
  const { service } = subject
  const cluster = await startCluster(createTemporaryFolder(), settings, service)
  const stopping = new AbortController()
  let writing: Promise<void> | undefined
  try {
    const urls = cluster.nodes.map(({ url }) => url)
    const sessions = urls.map((url) => subject.connect(url))
    const session: ServiceSession = {
      write: (contents, durable) => random.one(sessions).write(contents, durable),
      read: () => sessions[0]!.read(),
      close: async () => {},
    }
    await session.write(new Map([[readKey, 1]]), true)
    for (const url of urls)
      await waitUntil(() => getReply(url + readPath).then((reply) => reply?.text.includes(readText)))
    const pollers = urls.map((url) => startReadPoller(url + readPath, readText))
    const ledger = new WriteLedger(getUnits(subject).flat(), new Map())
    let acknowledged = 0
    const waitForWrites = (count: number) => {
      const target = acknowledged + count
      return waitUntil(() => acknowledged >= target)
    }
    writing = write(session, {
      subject,
      ledger,
      random: random.part('writers'),
      durable: 100,
      onAcknowledged: () => void acknowledged++,
      retryUntil: stopping.signal,
      pause: WRITER_PAUSE_MS,
    })
    await waitForWrites(WRITES_BEFORE_LOSS)
    await loss.run({ service, cluster, random, waitForProgress: () => waitForWrites(WRITES_BETWEEN_STEPS) })
    const command = await runRescueCommand(service, cluster)
    await waitForWrites(WRITES_AFTER_RESCUE)
    stopping.abort()
    await writing
    const readGaps: number[] = []
    for (const poller of pollers) readGaps.push(Math.round(await poller.stop()))
    const digests = await waitForEqualDigests(urls.map((url) => url + contentPath))
    const violations = new Set(digests).size === 1 ? [] : [`the nodes differ: ${digests.join(', ')}`]
    for (const [i, one] of sessions.entries())
      for (const violation of ledger.check(await one.read(), getSeconds(), { requireAll: true }))
        violations.push(`node ${i + 1}: ${violation}`)
    await Promise.all(sessions.map((one) => one.close()))
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    return { service, loss: loss.name, acknowledged, violations, readGaps, command, seconds }
  } finally {
    stopping.abort()
    await writing?.catch(() => {})
    await cluster.stop()
  }
}

/** Runs `pnpm cluster rescue` for all nodes. */
async function runRescueCommand(service: string, { nodes, servers }: ChaosCluster): Promise<RescueReport['command']> {
  const args = ['--url', nodes.map(({ url }) => url).join(), '--cluster', servers.map(({ url }) => url).join(), '--yes']
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [CLUSTER_SCRIPT, 'rescue', service, ...args])
    return { status: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { status: code, output: stdout + stderr }
  }
}

/** Returns the hashes of the replies once they are equal, or after a timeout: nodes without writers become equal soon. */
async function waitForEqualDigests(urls: readonly string[]): Promise<string[]> {
  let digests: string[] = []
  await waitUntil(async () => {
    digests = await Promise.all(urls.map(async (url) => toDigest((await getReply(url))?.text ?? '')))
    return new Set(digests).size === 1
  }).catch(() => {})
  return digests
}

const toDigest = (text: string) => createHash('sha256').update(text).digest('hex')
