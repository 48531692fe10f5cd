import { expectRepaired, removeRow, rowsOf } from '@influencer-stats/runtime/testing/own-row'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { expect, it } from 'vitest'
import { ownRow } from '../src/own-row.ts'
import { OWN_KEY } from '../src/store/revisions.ts'
import { openTestNode } from './support/replicated-store.ts'
import { startKv } from './support/kv.ts'

async function folderWithData(): Promise<string> {
  const data = temporaryFolder()
  const kv = await startKv({ data })
  for (let i = 0; i < 20; i++) expect((await kv.ask('PUT', `/v0/entity?id=k${i}`, `value ${i}`)).status).toBe(201)
  await kv.stop()
  return data
}

it('a folder without its own row is refused unchanged, and repaired with a new history', async () => {
  const folder = await expectRepaired({
    service: 'kv',
    folder: await folderWithData(),
    key: OWN_KEY,
    ownRow,
    start: (data) => startKv({ data }),
    report: /own row.*\n[^]*lost: .*revision/,
  })
  const kv = await startKv({ data: folder })
  for (let i = 0; i < 20; i++) expect((await kv.ask('GET', `/v0/entity?id=k${i}`)).text).toBe(`value ${i}`)
  await kv.stop()
})

it('a node without its position clears its base', async () => {
  const folder = temporaryFolder()
  const node = await openTestNode(folder)
  await node.store.write(
    { ops: [{ type: 'put', key: Buffer.from('old'), value: Buffer.from('1') }], durable: false },
    () => undefined,
  )
  await node.close()
  await removeRow(folder, OWN_KEY)
  expect(await rowsOf(folder)).not.toEqual([])
  await (await openTestNode(folder)).close()
  expect(await rowsOf(folder)).toEqual([])
})
