import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import type { LogServers } from '../src/status/log-servers.ts'
import { startTestNatsCluster } from './support/nats.ts'
import { createStreamName, openTestLog } from './support/open-log.ts'
import { toBuffer } from './support/text-frames.ts'
import { APPEND_KIND } from './support/text-state-machine.ts'

it('a node knows the servers of its log: one that stops, and one that returns', async () => {
  const servers = await startTestNatsCluster()
  const stream = createStreamName()
  let last: LogServers | undefined
  const { log } = await openTestLog(servers[0]!.url, stream, {
    nats: { servers: servers.map(({ url }) => url) },
    replicas: 3,
    onServers: (next) => void (last = next),
  })
  const getStates = () => last?.servers.map(({ state }) => state)
  const append = () => log.append(APPEND_KIND, toBuffer('x'.repeat(10_000)))
  await append()
  await waitUntil(() => getStates()?.join() === 'current,current,current' && last!.bytes! > 10_000 && last!.limit)
  const names = last!.servers.map(({ name }) => name)
  expect(last).toMatchObject({ stream, limit: { scope: 'none' } })
  expect([...names].sort()).toEqual(['server-1', 'server-2', 'server-3'])
  expect(last!.servers.map(({ role }) => role)).toEqual(['leader', 'replica', 'replica'])
  expect(last!.servers.every(({ lag, lastContactAt }) => lag === 0 && lastContactAt !== undefined)).toBe(true)

  // A power cut: no message announces the end of this server.
  const name = names[1]!
  const stopped = servers[Number(name.at(-1)) - 1]!
  await stopped.stop('SIGKILL')
  const find = () => last!.servers.find((server) => server.name === name)!
  await waitUntil(() => find().state === 'offline')
  for (let i = 0; i < 5; i++) await append()
  await waitUntil(() => find().lag! > 0)
  await stopped.restart()
  await waitUntil(() => find().state === 'current' && find().lag === 0)
})
