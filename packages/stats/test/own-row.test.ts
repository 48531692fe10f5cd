import { expectRepaired, removeRow, listRows } from '@influencer-stats/runtime/testing/own-row'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { ownRow } from '../src/own-row.ts'
import { CHANGE, encodeChange } from '../src/state/change.ts'
import { createLevelState } from '../src/state/level.ts'
import { OWN_KEY } from '../src/state/snapshot.ts'
import { openView } from './support/node.ts'
import { startStats } from './support/stats.ts'

const settings = { cache: 'none', state: 'level', youtubeUri: 'http://127.0.0.1:9', sseUri: '' }
const start = (data: string, log?: Parameters<typeof startStats>[1]) => startStats({ data, ...settings }, log)

async function folderWithData(): Promise<string> {
  const data = createTemporaryFolder()
  const stats = await start(data)
  for (let i = 0; i < 20; i++) expect((await stats.put(`/collections/c${i}`, { videos: [] })).status).toBe(201)
  await stats.stop()
  const state = await createLevelState({ folder: data })
  const snapshot = { videos: [], missing: [], asOf: 1 }
  const point = { at: 1, impressions: 1, engagements: 1, score: 1, videos: 0 }
  await state.putSnapshots([{ id: 'c1', snapshot, point }])
  await state.close()
  return data
}

it('a folder without its sources is refused unchanged; repaired, its numbers are of no known source', async () => {
  const folder = await expectRepaired({
    service: 'stats',
    folder: await folderWithData(),
    key: 'sources',
    ownRow,
    start,
    report: /own row.*\n[^]*lost: .*source/,
  })
  const stats = await start(folder)
  expect((await stats.get('/collections?limit=200')).body.collections).toHaveLength(20)
  await stats.stop()
  const state = await createLevelState({ folder })
  // Numbers of another source never appear as this one's.
  expect(await state.snapshot('c1')).toBeUndefined()
  expect(await state.setApart!()).toMatchObject([{ source: 'unknown', collections: 1, points: 1 }])
  await state.close()
})

it('a folder with data and without the used quota starts with a line', async () => {
  const folder = await folderWithData()
  const warnings = async () => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
    await (await start(folder, log)).stop()
    return lines.filter((line) => line.includes('quota'))
  }
  expect(await warnings()).toEqual([])
  await removeRow(folder, 'usage')
  expect(await warnings()).toHaveLength(1)
  expect(await warnings()).toEqual([])
})

it('a node without its position clears its base', async () => {
  const folder = createTemporaryFolder()
  const { level, view } = await openView({}, folder)
  const body = encodeChange({ type: 'put', collection: { id: 'c', videos: [], revision: 1 }, before: undefined })
  await view.apply([{ seq: 1, at: 1, kind: CHANGE, body }], { epoch: 'e', seq: 1 } as never)
  await level.close()
  await removeRow(folder, OWN_KEY)
  expect(await listRows(folder)).not.toEqual([])
  const again = await openView({}, folder)
  expect(again.view.getPosition()).toBeUndefined()
  await again.level.close()
  expect(await listRows(folder)).toEqual([])
})
