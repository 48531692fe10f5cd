import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'

it('returns no port that is in use', async () => {
  const draws = vi.spyOn(Math, 'random')
  onTestFinished(() => draws.mockRestore())
  const taken = await findFreePort()
  const server = createServer().listen(taken, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  draws.mockReturnValueOnce(draws.mock.results.at(-1)!.value)
  const other = await findFreePort()
  expect(other).not.toBe(taken)
})
