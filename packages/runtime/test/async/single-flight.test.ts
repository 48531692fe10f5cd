import { expect, test } from 'vitest'
import { coalesceCalls, createSingleFlight } from '../../src/async/single-flight.ts'

/** A function whose calls the test ends itself. */
function createCalls() {
  const calls: PromiseWithResolvers<number>[] = []
  const call = () => {
    const ended = Promise.withResolvers<number>()
    calls.push(ended)
    return ended.promise
  }
  return { calls, call }
}

test('callers share the call in progress', async () => {
  const { calls, call } = createCalls()
  const run = createSingleFlight(call)
  const results = [run(), run()]
  calls[0]!.resolve(1)
  expect(await Promise.all(results)).toEqual([1, 1])
  const failed = run()
  calls[1]!.reject(new Error('lost'))
  await expect(failed).rejects.toThrow('lost')
  void run()
  expect(calls).toHaveLength(3)
})

test('callers that come during a call share the next one', async () => {
  const { calls, call } = createCalls()
  const run = coalesceCalls(call)
  const first = [run(), run()]
  await Promise.resolve()
  const later = [run(), run()]
  expect(calls).toHaveLength(1)
  calls[0]!.reject(new Error('lost'))
  expect((await Promise.allSettled(first)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect.poll(() => calls.length).toBe(2)
  const last = run()
  calls[1]!.resolve(2)
  expect(await Promise.all(later)).toEqual([2, 2])
  await expect.poll(() => calls.length).toBe(3)
  calls[2]!.resolve(3)
  expect(await last).toBe(3)
})
