import { expectRepaired, removeRow, listRows } from '@influencer-stats/runtime/testing/own-row'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
import { revisionRow } from '../src/revision-row.ts'
import { STATE_KEY } from '../src/revisions.ts'
import { openTestNode } from './support/replicated-store.ts'
import { startKv } from './support/kv.ts'

async function createDataFolder(): Promise<string> {
  const data = createTemporaryFolder()
  const kv = await startKv({ data })
  for (let i = 0; i < 20; i++) expect((await kv.request('PUT', `/v0/entity?id=k${i}`, `value ${i}`)).status).toBe(201)
  await kv.stop()
  return data
}

it('a folder without its own row is refused unchanged, and repaired with a new history', async () => {
  const folder = await expectRepaired({
    service: 'kv',
    folder: await createDataFolder(),
    key: STATE_KEY,
    ownRow: revisionRow,
    start: (data) => startKv({ data }),
    report: /own row.*\n[^]*lost: .*revision/,
  })
  const kv = await startKv({ data: folder })
  for (let i = 0; i < 20; i++) expect((await kv.request('GET', `/v0/entity?id=k${i}`)).text).toBe(`value ${i}`)
  await kv.stop()
})

it('a node without its position clears its database', async () => {
  const folder = createTemporaryFolder()
  const node = await openTestNode(folder)
  await node.store.write(
    { ops: [{ type: 'put', key: Buffer.from('old'), value: Buffer.from('1') }], durable: false },
    () => undefined,
  )
  await node.close()
  await removeRow(folder, STATE_KEY)
  expect(await listRows(folder)).not.toEqual([])
  await (await openTestNode(folder)).close()
  expect(await listRows(folder)).toEqual([])
})
