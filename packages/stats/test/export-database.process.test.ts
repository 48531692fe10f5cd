import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import type { ExportLine } from '../src/core/export-line.ts'
import { parseExportLine } from '../src/routes/import-lines.ts'
import { exportDatabase } from '../src/state/export-database.ts'
import { createLevelState } from '../src/state/level-state.ts'
import { createNumbers } from './support/video-numbers.ts'

const VIDEO = '-4lB5EKS5Uk'
const collection = (id: string, revision: number) => ({ id, videos: [VIDEO], revision, created: 1 })
const trashed = (id: string, revision: number) => ({ ...collection(id, revision), deleted: '2026-11-20T12:00:00.000Z' })
const snapshot = { videos: [createNumbers(VIDEO)], missing: [], asOf: 1 }
const point = { at: 1, impressions: 1, engagements: 1, score: 1, videos: 1 }

async function openState() {
  const state = await createLevelState({ folder: createTemporaryFolder() })
  onTestFinished(() => state.close())
  const exportLines = async () => await Array.fromAsync(exportDatabase(state.level!.db))
  return { state, exportLines }
}

const post = (title: string, revision: number) => ({
  platform: 'x',
  url: 'https://x.com/a/status/12345',
  title,
  revision,
  points: 0,
})

/** A state with records of two sources, a post, and a collection in the trash. */
async function openFilledState() {
  const opened = await openState()
  const { state } = opened
  for (const source of ['https://b.example', 'https://a.example']) {
    await state.useSource!(source)
    await state.putRecords([
      { kind: 'channel', key: 'UCa', value: { source, asOf: 5 } },
      { kind: 'channel-point', key: 'UCa/0000000000000005', value: { source } },
    ])
  }
  for (const id of ['live', 'old']) {
    await state.put(collection(id, 1))
    await state.putSnapshots([{ id, snapshot, point }])
    await state.putRecords([{ kind: 'post', key: `${id}/p`, value: post(id, 7) }])
  }
  await state.trash(trashed('old', 2), (await state.get('old'))!)
  return opened
}

it('exports records and the trash, and an import into an empty state gives the same export', async () => {
  const { exportLines } = await openFilledState()
  const lines = await exportLines()
  expect(lines.map((line) => JSON.stringify(line)).filter((line) => line.includes('"record"'))).toHaveLength(6)
  expect(lines.slice(-2)).toMatchObject([
    { type: 'collection', collection: collection('live', 1) },
    { type: 'collection', collection: trashed('old', 2), numbers: { 'https://a.example': snapshot } },
  ])
  for (const line of lines) expect(parseExportLine(JSON.stringify(line))).toEqual(line)
  const other = await openState()
  await other.state.useSource!('https://a.example')
  await other.state.importLines!(lines)
  expect(await other.exportLines()).toEqual(lines)
  expect(await other.state.get('old')).toBeUndefined()
  expect(await other.state.getRecords('channel', ['UCa'])).toEqual([{ source: 'https://a.example', asOf: 5 }])
})

it('an import replaces only older versions and records, whether they are in the trash or not', async () => {
  const { state, exportLines } = await openFilledState()
  const lines = await exportLines()
  await state.restore(collection('old', 3), trashed('old', 2))
  await state.trash(trashed('live', 3), (await state.get('live'))!)
  await state.putRecords([{ kind: 'post', key: 'old/p', value: post('Later', 8) }])
  await state.importLines!(lines)
  expect(await state.get('old')).toEqual(collection('old', 3))
  expect(await state.getRecords('trash', ['live', 'old'])).toEqual([trashed('live', 3), undefined])
  expect(await state.getRecords('post', ['old/p'])).toEqual([post('Later', 8)])

  const newer: ExportLine[] = [
    { type: 'record', kind: 'post', key: 'old/p', value: post('Newest', 9) },
    { type: 'collection', collection: trashed('old', 4), numbers: {} },
    { type: 'collection', collection: collection('live', 4), numbers: {} },
  ]
  await state.importLines!(newer)
  expect([await state.get('old'), await state.get('live')]).toEqual([undefined, collection('live', 4)])
  expect(await state.getRecords('trash', ['live', 'old'])).toEqual([undefined, trashed('old', 4)])
  expect(await state.getRecords('post', ['old/p'])).toEqual([post('Newest', 9)])
  expect(await state.getHistory('old', 0, 9, 9)).toEqual([point])
})
