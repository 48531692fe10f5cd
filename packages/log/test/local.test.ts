import { expect, it, onTestFinished } from 'vitest'
import { createLocalLog } from '../src/local/local.ts'
import { describeLog } from './log.conformance.ts'
import { APPEND, TextView } from './support/text-view.ts'

describeLog('local', () => {
  const open = async (view: TextView) => {
    const log = createLocalLog({ view })
    onTestFinished(() => log.close())
    return log
  }
  return { open, reopen: open }
})

it('tells who appended what the view could not keep, and gives its place to the next', async () => {
  const view = new TextView()
  const log = createLocalLog({ view })
  await log.append(APPEND, Buffer.from('a'))
  view.failures = 1
  await expect(log.append(APPEND, Buffer.from('b'))).rejects.toThrow('the disk is full')
  await expect(log.append(APPEND, Buffer.from('c'))).resolves.toEqual({ seq: 2, outcome: 2 })
  expect(view.texts).toEqual(['a', 'c'])
  await log.close()
})

it("has a clock that does not go back though the machine's does", async () => {
  let now = 1_000
  const view = new TextView()
  const log = createLocalLog({ view, now: () => now })
  for (const time of [1_000, 500, 2_000]) {
    now = time
    await log.append(APPEND, Buffer.from('x'))
  }
  expect(view.times).toEqual([1_000, 1_000, 2_000])
  await log.close()
})
