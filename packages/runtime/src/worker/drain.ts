import type { FastifyInstance } from 'fastify'
import net from 'node:net'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { DrainTimes } from '../channel/process-messages.ts'
import type { ConnectionTracker } from '../http/request/connection-tracker.ts'

/** Grace of a shutdown without a successor (ms). */
export const SHUTDOWN_GRACE_MS = 200
/** Times of an app that serves no requests. */
export const NO_DRAIN: DrainTimes = { grace: 0, timeout: 0 }
const GRACE_CHECK_MS = 10
const CLOSE_IDLE_INTERVAL_MS = 5
const MAX_ACCEPT_TURNS = 100
// Time in which the first request of a connection should arrive (ms).
const FIRST_REQUEST_MS = 200

/**
 * Closes an app without losing a request. For the time of the grace, it continues to serve. Then it stops listening,
 * completes the requests in flight, and closes its connections and parts. The last reply of each connection has
 * `Connection: close`. Fastify's own `close()` loses a request of every busy keep-alive client, because a reply in
 * flight still announces a persistent connection.
 *
 * @param onListenEnd called when the app stops listening
 * @returns true if all requests in flight were completed
 */
export async function drain(
  app: FastifyInstance,
  connections: ConnectionTracker,
  times: DrainTimes,
  onListenEnd: () => void,
): Promise<boolean> {
  const clean = !app.server.listening || (await closeServer(app.server, connections, times, onListenEnd))
  await app.close()
  return clean
}

async function closeServer(
  server: net.Server,
  connections: ConnectionTracker,
  { grace, timeout }: DrainTimes,
  onListenEnd: () => void,
): Promise<boolean> {
  const deadline = Date.now() + timeout
  const acceptTimes = new WeakMap<net.Socket, number>()
  for (const event of ['connection', 'secureConnection'])
    server.on(event, (socket: net.Socket) => acceptTimes.set(socket, Date.now()))
  const isNew = (socket: net.Socket) => Date.now() - (acceptTimes.get(socket) ?? 0) < FIRST_REQUEST_MS
  const graceEndsAt = Date.now() + Math.min(grace, timeout)
  while (!connections.isEmpty && Date.now() < graceEndsAt) await delay(GRACE_CHECK_MS)
  await waitForEmptyAcceptQueue(server)
  onListenEnd()
  // `close()` of `http.Server` would close idle connections at once, before a reply could announce that.
  const closed = new Promise<true>((resolve) => {
    net.Server.prototype.close.call(server, () => resolve(true))
  })
  while (Date.now() < deadline) {
    // Timers run before input is read: a connection with an unread request must not be treated as idle.
    do await nextTurn()
    while (connections.closeIdle(isNew))
    if (await Promise.race([closed, delay(CLOSE_IDLE_INTERVAL_MS, false)])) return true
  }
  connections.closeAll()
  await closed
  return false
}

/**
 * Waits for one turn of the event loop in which no connection was accepted (at most 100 turns), because closing the
 * last listener of a socket resets the connections in its accept queue. At 9,000 new connections/s, 20 closes reset
 * 48-60 connections without this wait, and 4 with it.
 */
async function waitForEmptyAcceptQueue(server: net.Server): Promise<void> {
  let accepted = false
  const onConnection = () => (accepted = true)
  server.on('connection', onConnection)
  for (let turn = 0; turn < MAX_ACCEPT_TURNS; turn++) {
    accepted = false
    await nextTurn()
    await nextTurn()
    if (!accepted) break
  }
  server.off('connection', onConnection)
}
