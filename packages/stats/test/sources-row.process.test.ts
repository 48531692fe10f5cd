import { expectRepaired, removeRow, listRows } from '@influencer-stats/runtime/testing/own-row'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { sourcesRow } from '../src/state/sources-row.ts'
import { CHANGE_KIND, encodeChange } from '../src/state/stats-change.ts'
import { createLevelState } from '../src/state/level-state.ts'
import { POSITION_KEY } from '../src/state/level-snapshot.ts'
import { openTestStateMachine } from './support/cluster-node.ts'
import { startStats } from './support/stats.ts'

const settings = { cache: 'none', state: 'level', youtubeUri: 'http://127.0.0.1:9', sseUri: '' }
const start = (data: string, log?: Parameters<typeof startStats>[1]) => startStats({ data, ...settings }, log)

async function createDataFolder(): Promise<string> {
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

it('a folder without its sources is refused unchanged; after the repair its numbers have no known source', async () => {
  const folder = await expectRepaired({
    service: 'stats',
    folder: await createDataFolder(),
    key: 'sources',
    ownRow: sourcesRow,
    start,
    report: /own row.*\n[^]*lost: .*source/,
  })
  const stats = await start(folder)
  expect((await stats.get('/collections?limit=200')).body.collections).toHaveLength(20)
  await stats.stop()
  const state = await createLevelState({ folder })
  // Numbers of another source never appear as this one's.
  expect(await state.getSnapshot('c1')).toBeUndefined()
  expect(await state.countOtherSources!()).toMatchObject([{ source: 'unknown', collections: 1, points: 1 }])
  await state.close()
})

it('a folder with data and without the used quota is reported in a line at the start', async () => {
  const folder = await createDataFolder()
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

it('a node without its position clears its database', async () => {
  const folder = createTemporaryFolder()
  const { level, stateMachine } = await openTestStateMachine({}, folder)
  const body = encodeChange({ type: 'put', collection: { id: 'c', videos: [], revision: 1 }, before: undefined })
  await stateMachine.apply([{ seq: 1, at: 1, kind: CHANGE_KIND, body }], { epoch: 'e', seq: 1 } as never)
  await level.close()
  await removeRow(folder, POSITION_KEY)
  expect(await listRows(folder)).not.toEqual([])
  const again = await openTestStateMachine({}, folder)
  expect(again.stateMachine.getPosition()).toBeUndefined()
  await again.level.close()
  expect(await listRows(folder)).toEqual([])
})
