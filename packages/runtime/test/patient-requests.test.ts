import { expect, it } from 'vitest'
import { ServiceError } from '../src/errors/service-error.ts'
import { sendPatiently } from './support/patient-requests.ts'

it('sends at most 20 requests at a time, each until a busy service accepts it', async () => {
  const sent: number[] = []
  let running = 0
  let most = 0
  await sendPatiently(Array(100).keys(), async (i) => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    sent.push(i)
    if (sent.filter((one) => one === i).length <= i % 3) throw new ServiceError(503, 'OVERLOADED')
  })
  expect(most).toBe(20)
  expect(sent.length).toBe(100 + 33 + 66)
  expect(new Set(sent).size).toBe(100)
})

it.each([new ServiceError(409, 'CONFLICT'), new TypeError('fetch failed')])('does not repeat %s', async (error) => {
  let count = 0
  const sending = sendPatiently(['a'], async () => {
    count++
    throw error
  })
  await expect(sending).rejects.toBe(error)
  expect(count).toBe(1)
})
