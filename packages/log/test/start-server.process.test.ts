import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { findFreePorts } from '../src/nats/start-server.ts'

it('returns no port that is in use', async () => {
  const draws = vi.spyOn(Math, 'random')
  onTestFinished(() => draws.mockRestore())
  const [taken] = await findFreePorts(1)
  const server = createServer().listen(taken, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  draws.mockReturnValueOnce(draws.mock.results.at(-1)!.value)
  const [other] = await findFreePorts(1)
  expect(other).not.toBe(taken)
})
