import { expectRepaired } from '@influencer-stats/runtime/testing/own-row'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
import { ownRow } from '../src/history/level-history.ts'
import { openSse } from './support/test-sse.ts'

const start = (data: string) => openSse({ data, history: 'level' })

it('a folder without its own row is refused unchanged, and repaired with new ids', async () => {
  const data = createTemporaryFolder()
  const first = await start(data)
  const ids: string[] = []
  for (let i = 0; i < 20; i++) ids.push(await first.put(`value ${i}`, 'topic'))
  await first.stop()
  const report = /own row.*\n[^]*lost: .*ids/
  const folder = await expectRepaired({ service: 'sse', folder: data, key: 'meta', ownRow, start, report })
  const again = await start(folder)
  const now: string[] = []
  for (let i = 0; i < 20; i++) now.push(await again.put(`new ${i}`, 'topic'))
  await again.stop()
  expect(now.filter((id) => ids.includes(id))).toEqual([])
  // New sequences are greater than those of the stored events, too.
  const sequence = (id: string) => Number(id.split(/\D+/).at(-1))
  expect(Math.min(...now.map(sequence))).toBeGreaterThan(Math.max(...ids.map(sequence)))
})
