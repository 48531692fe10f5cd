import { repairData, checkData } from '@influencer-stats/runtime/data-cli'
import { copyOf, expectRefused, removeRow } from '@influencer-stats/runtime/testing/own-row'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { expect, it } from 'vitest'
import { ownRow } from '../src/history/level.ts'
import { openSse } from './support/sse.ts'

const start = (data: string) => openSse({ data, history: 'level' })

it('a folder without its own row is refused unchanged, and repaired with new ids', async () => {
  const data = temporaryFolder()
  const first = await start(data)
  const ids: string[] = []
  for (let i = 0; i < 20; i++) ids.push(await first.put(`value ${i}`, 'topic'))
  await first.stop()
  const folder = copyOf(data, 'sse')
  await removeRow(folder, 'meta')
  await expectRefused(folder, start)
  const lines: string[] = []
  const say = (line: string) => lines.push(line)
  const rows = { sse: async () => ownRow }
  expect(await checkData(folder, [], say, rows)).toBe(1)
  expect(await repairData(folder, [], say, rows)).toBe(0)
  expect(lines.join('\n')).toMatch(/own row.*\n[^]*lost: .*ids/)
  const again = await start(folder)
  const now: string[] = []
  for (let i = 0; i < 20; i++) now.push(await again.put(`new ${i}`, 'topic'))
  await again.stop()
  expect(now.filter((id) => ids.includes(id))).toEqual([])
  // The sequence goes on behind the stored events, too.
  const sequence = (id: string) => Number(id.split(/\D+/).at(-1))
  expect(Math.min(...now.map(sequence))).toBeGreaterThan(Math.max(...ids.map(sequence)))
})
