import { deleteStream, startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, vi } from 'vitest'
import { clusterSubjects } from './support/cluster-subjects.ts'
import {
  CLUSTER_SCRIPT,
  expectEqualNodes,
  readWriteCode,
  runRescueCommand,
  startRescueNode,
  startRescueNodes,
  startWriters,
  toUrls,
  waitUntilAll,
  writeItem,
} from './support/rescue-nodes.ts'

// Several nodes start in each test.
vi.setConfig({ testTimeout: 300_000 })

const kv = clusterSubjects.find(({ name }) => name === 'kv')!

/** Runs the command, and kills it when it prints a text. */
async function killAt(text: string, args: readonly string[]): Promise<void> {
  const command = spawn(process.execPath, [CLUSTER_SCRIPT, 'rescue', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(command, 'close')
  let output = ''
  command.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    if (output.includes(text)) command.kill('SIGKILL')
  })
  await ended
  expect(output).toContain(text)
}

it.each(['reading the state', 'deleting stream', 'creating stream', 'storing the snapshot', 'the log continues'])(
  'a rescue that was killed at "%s" is repeated without a loss',
  async (step) => {
    const server = await startTestNatsServer()
    const nodes = await startRescueNodes(kv, server.url)
    const writers = startWriters(kv, nodes, 'a')
    await waitUntil(() => writers.acknowledged.size > 100)
    await deleteStream(server.url, 'kv')
    await waitUntilAll(nodes, 'LOG_LOST')
    await writers.stop()
    // A node without state creates the stream again.
    const stranger = await startRescueNode(kv, server.url)
    expect(await writeItem(kv, stranger, 'stranger')).toBe(201)
    await stranger.started.stop()

    const args = ['kv', '--url', toUrls(nodes), '--cluster', server.url, '--nats-replicas', '1']
    const refused = await runRescueCommand(...args)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^kv: LOG_EXISTS: .* --yes confirms it\n$/),
    ])
    expect(await Promise.all(nodes.map(readWriteCode))).toEqual(['LOG_LOST', 'LOG_LOST', 'LOG_LOST'])
    await killAt(step, [...args, '--yes'])
    expect(await runRescueCommand(...args, '--yes')).toMatchObject({ code: 0, stderr: '' })
    const after = startWriters(kv, nodes, 'b')
    await waitUntil(() => after.acknowledged.size > 50)
    await after.stop()
    const content = await expectEqualNodes(kv, nodes, [...writers.acknowledged, ...after.acknowledged])
    expect(content).not.toContain('stranger')
    const late = await startRescueNode(kv, server.url)
    await expectEqualNodes(kv, [nodes[0]!, late], [...writers.acknowledged, ...after.acknowledged])
  },
)

it('a rescue refuses nodes of different logs, and a node that it left out stays without its log', async () => {
  const server = await startTestNatsServer()
  const nodes = await startRescueNodes(kv, server.url)
  for (const node of nodes) expect(await writeItem(kv, node, `a${node.url.at(-1)}`)).toBe(201)
  await deleteStream(server.url, 'kv')
  await waitUntilAll(nodes, 'LOG_LOST')
  const stranger = await startRescueNode(kv, server.url)
  expect(await writeItem(kv, stranger, 'stranger')).toBe(201)
  const run = (named: typeof nodes, ...args: string[]) =>
    runRescueCommand('kv', '--url', toUrls(named), '--cluster', server.url, '--nats-replicas', '1', ...args)
  const diverged = await run([...nodes, stranger], '--yes')
  expect([diverged.code, diverged.stderr]).toEqual([1, expect.stringContaining('kv: POSITIONS_DIVERGED: ')])
  expect(await writeItem(kv, stranger, 'again')).toBe(201)
  const rescued = await run(nodes, '--yes')
  expect([rescued.code, rescued.stderr]).toEqual([0, ''])
  await waitUntil(async () => (await readWriteCode(stranger)) === 'LOG_LOST')
  const unready = await run([...nodes, stranger], '--wait-timeout', '1000')
  expect([unready.code, unready.stderr]).toEqual([1, expect.stringContaining('kv: POSITIONS_DIVERGED: ')])
})
