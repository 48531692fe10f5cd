import { onTestFinished } from 'vitest'
import { waitUntil } from './wait-until.ts'
import { openRawClient, formatRequest, type RawClient, type RawReply } from './raw-client.ts'

/** Many keep-alive clients. Each sends its next request on receipt of a reply, until the server ends its connection. */
export interface ClientFleet {
  /** Number of replies by status. */
  readonly replies: Record<number, number>
  /** Requests that were sent in time and got no complete reply. */
  readonly lost: number
  /** Resolves when every connection has ended. */
  readonly done: Promise<void>
}

// A server that drains waits 200 ms for the next request of a connection. A client that a busy machine delays as long
// may send too late, which is not a fault of the server (ms).
const MAX_DELAY_MS = 100
const TICK_MS = 20
const RECENT_MS = 1_000

/** Returns a function that is true if this process was delayed recently. */
function trackHoldUps(): () => boolean {
  let last = performance.now()
  let heldUpAt = -Infinity
  const tick = () => {
    const now = performance.now()
    if (now - last > MAX_DELAY_MS) heldUpAt = now
    last = now
  }
  const ticking = setInterval(tick, TICK_MS)
  onTestFinished(() => clearInterval(ticking))
  return () => {
    tick()
    return performance.now() - heldUpAt < RECENT_MS
  }
}

export async function startClientFleet(port: number, size: number, path = '/value'): Promise<ClientFleet> {
  const clients = await Promise.all(Array.from({ length: size }, () => openRawClient(port)))
  const fleet = { replies: {} as Record<number, number>, lost: 0, done: Promise.resolve() }
  const request = formatRequest('GET', path)
  const isLate = trackHoldUps()
  async function run(client: RawClient): Promise<void> {
    let reply: RawReply | undefined
    do {
      // A client that has received the end sends no more. Any other client expects a reply.
      if (client.socket.readableEnded || client.socket.destroyed) return
      client.send(request)
      reply = await client.reply().catch(() => undefined)
      if (!reply) return void (isLate() || fleet.lost++)
      fleet.replies[reply.status] = (fleet.replies[reply.status] ?? 0) + 1
    } while (reply.headers.connection !== 'close')
  }
  fleet.done = Promise.all(clients.map(run)).then(() => {})
  return fleet
}

/** Connections to a service, one for each of its serving threads. */
export async function connectPerThread(port: number, threads: number): Promise<Map<string, RawClient>> {
  const clients = new Map<string, RawClient>()
  await waitUntil(async () => {
    const client = await openRawClient(port)
    client.send(formatRequest('GET', '/value'))
    const { headers } = await client.reply()
    if (clients.has(headers['x-thread']!)) client.socket.destroy()
    else clients.set(headers['x-thread']!, client)
    return clients.size === threads
  })
  return clients
}
