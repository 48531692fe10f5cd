import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { heldTick } from '../src/worker/v8/held-tick.ts'

test('the held object is an entry of the queue of ticks, with the keys of all entries', async () => {
  await setImmediate()
  const { entry } = heldTick
  expect(Object.keys(entry!)).toEqual(expect.arrayContaining(['callback', 'args']))
  expect(Object.getOwnPropertySymbols(entry!).map(String)).toContain('Symbol(async_id_symbol)')
})
