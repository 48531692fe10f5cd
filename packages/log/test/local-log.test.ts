import { expect, it, onTestFinished } from 'vitest'
import { openLocalLog } from '../src/local/local-log.ts'
import { describeLog } from './log.conformance.ts'
import { APPEND_KIND, TextStateMachine } from './support/text-state-machine.ts'

describeLog('local', () => {
  const open = async (stateMachine: TextStateMachine) => {
    const log = openLocalLog({ stateMachine })
    onTestFinished(() => log.close())
    return log
  }
  return { open, reopen: open }
})

it('rejects an append that the state machine could not store, and reuses its sequence', async () => {
  const stateMachine = new TextStateMachine()
  const log = openLocalLog({ stateMachine })
  await log.append(APPEND_KIND, Buffer.from('a'))
  stateMachine.failureCount = 1
  await expect(log.append(APPEND_KIND, Buffer.from('b'))).rejects.toThrow('the disk is full')
  await expect(log.append(APPEND_KIND, Buffer.from('c'))).resolves.toEqual({ seq: 2, outcome: 2 })
  expect(stateMachine.texts).toEqual(['a', 'c'])
  await log.close()
})

it('has a clock that does not go back, even if that of the machine does', async () => {
  let now = 1_000
  const stateMachine = new TextStateMachine()
  const log = openLocalLog({ stateMachine, now: () => now })
  for (const time of [1_000, 500, 2_000]) {
    now = time
    await log.append(APPEND_KIND, Buffer.from('x'))
  }
  expect(stateMachine.times).toEqual([1_000, 1_000, 2_000])
  await log.close()
})
