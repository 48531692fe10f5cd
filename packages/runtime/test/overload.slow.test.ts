import { expect, it } from 'vitest'
import { SERVERS } from '../src/settings/settings.ts'
import { expectProblem, startCounter } from './support/counter-service.ts'
import { openRawClient, formatRequest, type RawReply } from './support/raw-client.ts'
import { waitUntil } from './support/wait-until.ts'

const PROBES = ['/healthz', '/readyz', '/metrics']
// Short, because an overload has to last five times as long before the tests can detect it (ms).
const maxQueueDelay = 20

/** Clients that repeat a request after each reply, until the test ends. */
async function startBurst(port: number, clients: number, method: string, path: string) {
  const refused: RawReply[] = []
  const got = { accepted: 0, refused }
  let goesOn = true
  async function runClient(): Promise<void> {
    const { send, reply } = await openRawClient(port)
    while (goesOn) {
      send(formatRequest(method, path))
      const answer = await reply()
      if (answer.status === 200) got.accepted++
      else refused.push(answer)
    }
  }
  const all = Promise.all(Array.from({ length: clients }, runClient))
  async function stop(): Promise<void> {
    goesOn = false
    await all
  }
  return { got, leave: stop }
}

// Requests of one millisecond: a burst ends within a second, and in another second more than a burst arrives.
const cases = [
  { method: 'GET', path: '/dear/1', clients: 64 },
  { method: 'PUT', path: '/in-turn/1', clients: 160 },
  { method: 'GET', path: '/spend?ms=1', clients: 64 },
]

it.each(SERVERS)(
  '%s: refuses requests in an overload, except probes and streams, until the load falls',
  async (server) => {
    const { port, request } = await startCounter({ threads: 1, hot: 'yes', server, maxQueueDelay })
    for (const { method, path, clients } of cases) {
      const { got, leave: stop } = await startBurst(port, clients, method, path)
      await waitUntil(() => got.refused.length > clients)
      for (const open of [...PROBES, '/stream/1'])
        expect([open, (await request('GET', open)).status]).toEqual([open, 200])
      const before = got.accepted
      await waitUntil(() => got.accepted > before)
      await stop()
      for (const reply of got.refused)
        expect(expectProblem(reply, 503, 'OVERLOADED') && reply.headers['retry-after']).toBe('1')
      await waitUntil(async () => (await request(method, path)).status === 200)
    }
  },
)

it('does not refuse 16 clients, however slow their replies are', async () => {
  const { port } = await startCounter({ threads: 1, hot: 'yes', maxQueueDelay })
  for (const { method, path } of cases) {
    const { got, leave: stop } = await startBurst(port, 16, method, path)
    await waitUntil(() => got.accepted > 50)
    await stop()
    expect([path, got.refused]).toEqual([path, []])
  }
})

it('does not refuse 64 clients whose changes a slow disk accepts one by one', async () => {
  const { port } = await startCounter({ threads: 1, hot: 'yes', maxQueueDelay: 50 })
  const { got, leave: stop } = await startBurst(port, 64, 'PUT', '/in-turn/9')
  await waitUntil(() => got.accepted > 100)
  await stop()
  expect(got.refused).toEqual([])
})

// Each burst needs its own server: two bursts without a rest are more requests than one burst.
it.each(SERVERS.flatMap((server) => cases.map((one) => ({ ...one, server }))))(
  '$server: serves 1,000 simultaneous requests by default: $method $path',
  async ({ server, method, path }) => {
    // On a busy machine, 1,000 clients take longer to connect and send than the default header timeout.
    const { port } = await startCounter({
      threads: 1,
      hot: 'yes',
      server,
      headersTimeout: 60_000,
      requestTimeout: 60_000,
    })
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => openRawClient(port)))
    const replies = await Promise.all(
      clients.map(({ send, reply }) => {
        send(formatRequest(method, path))
        return reply()
      }),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  },
)

it('refuses changes that wait when an overload begins, and answers those that have started', async () => {
  const { port } = await startCounter({ threads: 1, maxQueueDelay })
  const clients = await Promise.all(Array.from({ length: 600 }, () => openRawClient(port)))
  const refused = new Set<number>()
  const answered = { before: 0, after: 0 }
  let goesOn = true
  await Promise.all(
    clients.map(async ({ send, reply }, i) => {
      while (goesOn) {
        send(formatRequest('POST', '/in-turn'))
        const { status } = await reply()
        if (status === 503) refused.add(i)
        else if (refused.size < 10) answered.before++
        else answered.after++
        if (refused.size > 500) goesOn = false
      }
    }),
  )
  // If the queue did not hold changes back, all 600 would have to be answered first.
  expect(answered.before).toBeGreaterThan(100)
  expect(answered.after).toBeLessThan(300)
})

it('refuses no client if `maxQueueDelay` is 0', async () => {
  const { port } = await startCounter({ threads: 1, hot: 'yes', maxQueueDelay: 0 })
  const { method, path, clients } = cases[0]!
  const { got, leave: stop } = await startBurst(port, clients, method, path)
  await waitUntil(() => got.accepted > 1_500)
  await stop()
  expect(got.refused).toEqual([])
})

it('does not count requests whose clients have left', async () => {
  const { port, request } = await startCounter({ threads: 1, maxQueueDelay })
  const leaving = await Promise.all(Array.from({ length: 50 }, () => openRawClient(port)))
  for (const { send } of leaving) send(formatRequest('GET', '/slow?ms=5000'))
  await request('GET', '/value')
  for (const { socket } of leaving) socket.destroy()
  const { got, leave: stop } = await startBurst(port, 3, 'GET', '/slow?ms=0')
  const busy = await startBurst(port, 3, 'GET', '/spend?ms=9')
  await waitUntil(() => busy.got.accepted > 40)
  await Promise.all([stop(), busy.leave()])
  expect([...got.refused, ...busy.got.refused]).toEqual([])
})
