import { damageTables } from '@influencer-stats/runtime/testing/damage-tables'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createLevelState } from '../src/state/level-state.ts'
import { startStats } from './support/stats.ts'

const uuid = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`

it('a damaged block gets an error code, is counted, and affects no other collection', async () => {
  const data = createTemporaryFolder()
  const state = await createLevelState({ folder: data })
  const ids = Array.from({ length: 500 }, (_, i) => uuid(i))
  for (const id of ids) await state.put({ id, videos: [`${id}`.slice(0, 11)], revision: 1 })
  await state.level!.flush()
  await state.close()
  const stats = await startStats({ data, cache: 'none', state: 'level', youtubeUri: 'http://127.0.0.1:9', sseUri: '' })
  onTestFinished(async () => void (await stats.stop()))
  damageTables(join(data, 'level'))
  expect((await stats.get('/readyz')).status).toBe(200)
  const seen = new Set<string>()
  for (const id of ids) {
    const { status, body } = await stats.get(`/collections/${id}`)
    seen.add(`${status} ${body.code ?? 'OK'}`)
    if (status === 200) expect(body.id).toBe(id)
  }
  expect([...seen].toSorted()).toEqual(['200 OK', '500 DATA_DAMAGED'])
  expect(await stats.get('/readyz')).toMatchObject({ status: 503, body: { code: 'NOT_READY', detail: 'DATA_DAMAGED' } })
  expect((await stats.get('/metrics')).body).toMatch(/^data_damaged_files 1$/m)
  expect((await stats.get('/metrics')).body).toMatch(/^http_request_errors_total\{code="DATA_DAMAGED"\} [1-9]/m)
  expect((await stats.put(`/collections/${uuid(1_000)}`, { videos: [] })).status).toBe(201)
})
