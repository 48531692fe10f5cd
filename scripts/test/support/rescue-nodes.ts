import { findFreePorts } from '@influencer-stats/log/nats-server'
import { spawnStart, START_SCRIPT, type SpawnedStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { ClusterSubject } from './cluster-subjects.ts'

const SCRIPTS = fileURLToPath(new URL('../../', import.meta.url))
export const CLUSTER_SCRIPT = join(SCRIPTS, 'cluster.ts')

/** Node of a cluster in separate processes, whose supervisor restarts it. */
export interface RescueNode {
  readonly url: string
  readonly data: string
  readonly started: SpawnedStart
}

/** Starts a node. It stops when the test ends. */
export async function startRescueNode(
  { name, settings }: ClusterSubject,
  natsUrl: string,
  data = createTemporaryFolder(),
): Promise<RescueNode> {
  const [port] = await findFreePorts(1)
  const args = ['--port', String(port), '--data', data, '--cluster', natsUrl, '--nats-replicas', '1', '--threads', '1']
  const started = spawnStart([name, ...args, '--log-level', 'warn', ...settings], {}, { script: START_SCRIPT })
  await started.waitUntilReady()
  return { url: `http://127.0.0.1:${port}`, data: join(data, name), started }
}

export const startRescueNodes = async (subject: ClusterSubject, natsUrl: string) => [
  await startRescueNode(subject, natsUrl),
  await startRescueNode(subject, natsUrl),
  await startRescueNode(subject, natsUrl),
]

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a script of the folder `scripts`. */
export const runScript = (script: string, ...args: string[]): Promise<CommandResult> =>
  new Promise((resolve) => {
    execFile(process.execPath, [join(SCRIPTS, script), ...args], (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })

/** Runs `pnpm cluster rescue`. */
export const runRescueCommand = (...args: string[]) => runScript('cluster.ts', 'rescue', ...args)

export const toUrls = (nodes: readonly RescueNode[]) => nodes.map(({ url }) => url).join(',')

/** Reads the code with which a node refuses writes; `READY` if it takes them. */
export async function readWriteCode({ url }: RescueNode): Promise<string | undefined> {
  const reply = await fetch(`${url}/readyz`).catch(() => undefined)
  const { writes } = ((await reply?.json().catch(() => undefined)) ?? {}) as {
    writes?: { ready: boolean; code?: string }
  }
  return writes?.ready ? 'READY' : writes?.code
}

export const waitUntilAll = (nodes: readonly RescueNode[], code: string) =>
  waitUntil(async () => (await Promise.all(nodes.map(readWriteCode))).every((one) => one === code))

/** Writes an item. Resolves with the status; 0 if there was no reply. */
export async function writeItem({ createWrite }: ClusterSubject, { url }: RescueNode, item: string): Promise<number> {
  const { path, init } = createWrite(item)
  const reply = await fetch(url + path, init).catch(() => undefined)
  await reply?.arrayBuffer()
  return reply?.status ?? 0
}

/** Clients that write to each node, one item after another, until `stop`. */
export function startWriters(subject: ClusterSubject, nodes: readonly RescueNode[], prefix: string) {
  const acknowledged = new Set<string>()
  let isWriting = true
  const writers = nodes.flatMap((node, i) =>
    ['x', 'y', 'z'].map(async (writer) => {
      for (let k = 0; isWriting; k++) {
        const item = `${prefix}${i}${writer}${k}`
        const status = await writeItem(subject, node, item)
        if (status >= 200 && status < 300) acknowledged.add(item)
        if (status === 503 || status === 0) await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }),
  )
  return {
    acknowledged,
    async stop() {
      isWriting = false
      await Promise.all(writers)
    },
  }
}

/** Reads all data of a node. */
export async function readContent({ contentPath }: ClusterSubject, { url }: RescueNode): Promise<string> {
  const reply = await fetch(url + contentPath, { headers: { accept: 'application/x-ndjson' } })
  if (!reply.ok) throw new Error(`${url}: ${reply.status} ${await reply.text()}`)
  return reply.text()
}

/** Waits until all nodes have the same data, which includes the items. */
export async function expectEqualNodes(
  subject: ClusterSubject,
  nodes: readonly RescueNode[],
  items: Iterable<string>,
): Promise<string> {
  const contents = await waitUntil(async () => {
    const all = await Promise.all(nodes.map((node) => readContent(subject, node)))
    return new Set(all).size === 1 && all
  })
  const content = contents[0]!
  expect([...items].filter((item) => !content.includes(`<${item}>`))).toEqual([])
  return content
}
