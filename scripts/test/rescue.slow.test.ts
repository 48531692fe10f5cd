import { deleteStream, startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { clusterSubjects } from './support/cluster-subjects.ts'
import {
  expectEqualNodes,
  readContent,
  runRescueCommand,
  runScript,
  startRescueNode,
  startRescueNodes,
  startWriters,
  toUrls,
  waitUntilAll,
  writeItem,
} from './support/rescue-nodes.ts'

// Several nodes start in each test.
vi.setConfig({ testTimeout: 300_000 })

describe.each(clusterSubjects)('a rescue of $name', (subject) => {
  const { name } = subject

  it('continues a log that was deleted under writers, with all acknowledged writes on all nodes', async () => {
    const server = await startTestNatsServer()
    const nodes = await startRescueNodes(subject, server.url)
    const before = startWriters(subject, nodes, 'a')
    await waitUntil(() => before.acknowledged.size > 200)
    await deleteStream(server.url, name)
    await waitUntilAll(nodes, 'LOG_LOST')
    await before.stop()

    const args = [name, '--url', toUrls(nodes), '--cluster', server.url, '--nats-replicas', '1']
    const rescued = await runRescueCommand(...args)
    expect(rescued.stderr).toBe('')
    expect(rescued.code).toBe(0)
    for (const { url } of nodes) {
      expect(rescued.stdout).toContain(`${name}: ${url} has sequence `)
      expect(rescued.stdout).toContain(`${name}: ${url} takes writes\n`)
    }
    await expectEqualNodes(subject, nodes, before.acknowledged)

    const after = startWriters(subject, nodes, 'b')
    await waitUntil(() => after.acknowledged.size > 50)
    await after.stop()
    await expectEqualNodes(subject, nodes, [...before.acknowledged, ...after.acknowledged])

    const repeated = await runRescueCommand(...args)
    expect(repeated).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('needs no rescue') })
    for (const node of nodes) expect(await writeItem(subject, node, `c${node.url.at(-1)}`)).toBeLessThan(300)
  })

  it('restores a backup into a new cluster, with the same data on all nodes', async () => {
    const [first, second] = [await startTestNatsServer(), await startTestNatsServer()]
    const old = await startRescueNodes(subject, first.url)
    const writers = startWriters(subject, old, 'a')
    await waitUntil(() => writers.acknowledged.size > 200)
    await writers.stop()
    await waitUntil(async () => subject.isComplete?.(await readContent(subject, old[0]!)) ?? true)
    const content = await expectEqualNodes(subject, old, writers.acknowledged)
    const folder = createTemporaryFolder()
    const port = new URL(old[1]!.url).port
    const backup = await runScript('backup.ts', folder, name, `--${name}.port`, port)
    expect(backup).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/: cluster up to sequence \d+ /),
    })
    for (const { started } of old) await started.stop()

    const args = [name, '--from', join(folder, `${name}.backup`), '--cluster', second.url, '--nats-replicas', '1']
    expect(await runRescueCommand(...args)).toMatchObject({ code: 0, stderr: '' })
    const nodes = await startRescueNodes(subject, second.url)
    await waitUntilAll(nodes, 'READY')
    const restored = await expectEqualNodes(subject, nodes, writers.acknowledged)
    expect(restored).toBe(content)
    for (const node of nodes) expect(await writeItem(subject, node, `b${node.url.at(-1)}`)).toBeLessThan(300)
    await expectEqualNodes(subject, nodes, writers.acknowledged)
    expect(await runRescueCommand(...args)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('needs no rescue'),
    })
  })

  it.skipIf(name === 'sse')('continues from the folders of stopped nodes on new servers', async () => {
    const [first, second] = [await startTestNatsServer(), await startTestNatsServer()]
    const old = await startRescueNodes(subject, first.url)
    const writers = startWriters(subject, old, 'a')
    await waitUntil(() => writers.acknowledged.size > 200)
    // A node that stops earlier is behind the others.
    await old[0]!.started.stop()
    await waitUntil(() => writers.acknowledged.size > 300)
    await writers.stop()
    for (const { started } of old.slice(1)) await started.stop()

    const folders = old.flatMap(({ data }) => ['--from', data])
    const args = [name, ...folders, '--cluster', second.url, '--nats-replicas', '1']
    expect(await runRescueCommand(...args)).toMatchObject({ code: 0, stderr: '' })
    const nodes = await Promise.all(old.map(({ data }) => startRescueNode(subject, second.url, dirname(data))))
    await waitUntilAll(nodes, 'READY')
    for (const node of nodes) expect(await writeItem(subject, node, `b${node.url.at(-1)}`)).toBeLessThan(300)
    await expectEqualNodes(subject, nodes, writers.acknowledged)
    // The nodes run now.
    expect(await runRescueCommand(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining('DATA_LOCKED') })
  })
})
