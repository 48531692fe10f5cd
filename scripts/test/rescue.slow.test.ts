import { deleteStream, startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { clusterSubjects } from './support/cluster-subjects.ts'
import {
  expectEqualNodes,
  runRescueCommand,
  startRescueNodes,
  startWriters,
  toUrls,
  waitUntilAll,
  writeItem,
} from './support/rescue-nodes.ts'

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
})
