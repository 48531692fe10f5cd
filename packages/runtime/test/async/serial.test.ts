import { expect, test } from 'vitest'
import { Serial } from '../../src/async/serial.ts'

test('runs tasks in order, also after one that failed', async () => {
  const serial = new Serial()
  const events: string[] = []
  const first = Promise.withResolvers<void>()
  const failed = serial.run(async () => {
    events.push('first')
    await first.promise
    throw new Error('failed')
  })
  const second = serial.run(() => events.push('second'))
  const idle = serial.waitUntilIdle().then(() => events.push('idle'))
  await Promise.resolve()
  expect(events).toEqual(['first'])
  first.resolve()
  await expect(failed).rejects.toThrow('failed')
  expect(await second).toBe(2)
  await idle
  expect(events).toEqual(['first', 'second', 'idle'])
})
