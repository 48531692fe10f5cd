import { startNatsCluster } from '@influencer-stats/log/nats-server'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startKv, type TestKv } from './support/kv.ts'
import { runCli } from './support/process.ts'

const readContents = async ({ client }: TestKv) => {
  const text: string[] = []
  for await (const piece of await client.streamEntryLines({ linearizable: true })) text.push(piece.toString())
  return text.join('')
}

it('moves from one machine to three and back with all data, as the README describes', async () => {
  const folder = createTemporaryFolder()
  const standalone = await startKv({ data: join(folder, 'alone') })
  for (let i = 0; i < 5; i++)
    await standalone.client.batch(
      Array.from({ length: 400 }, (_, j) => ({ op: 'put', id: `k${i}/${j}`, value: Buffer.alloc(200, i + j) })),
    )
  await standalone.client.put('expires', 'later', { ttl: 100_000 })
  const before = await readContents(standalone)
  const file = join(folder, 'entries.ndjson')
  expect((await runCli('export', file, '--url', standalone.url)).code).toBe(0)
  await standalone.stop()

  const servers = await startNatsCluster({ folder: join(folder, 'nats'), size: 3 })
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop('SIGKILL')))))
  const cluster = servers.map(({ url }) => url).join(',')
  const nodes: TestKv[] = []
  for (const name of ['a', 'b', 'c']) nodes.push(await startKv({ cluster, data: join(folder, name) }))
  const [a, b, c] = nodes as [TestKv, TestKv, TestKv]
  expect(await runCli('import', file, '--url', a.url)).toMatchObject({ code: 0 })
  expect(await readContents(b)).toBe(before)
  await b.client.delete('k0/0')
  await c.client.put('new', '1')
  const after = await readContents(a)

  const back = join(folder, 'back.ndjson')
  expect((await runCli('export', back, '--url', a.url)).code).toBe(0)
  for (const node of nodes) await node.stop()
  const again = await startKv({ data: join(folder, 'again') })
  expect((await runCli('import', back, '--url', again.url)).code).toBe(0)
  expect(await readContents(again)).toBe(after)
  expect(after).not.toContain('"k0/0"')
  expect(after).toContain('"expires"')
  await again.stop()
})
