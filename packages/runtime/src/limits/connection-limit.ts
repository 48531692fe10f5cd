import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Counter, type Registry } from '../metrics/prom-client.ts'
import type { CommonSettings } from '../settings/settings.ts'
import { createNetworkMatcher } from '../net/networks.ts'
import { toClientNetwork } from '../net/client-network.ts'

type ConnectionSettings = Pick<CommonSettings, 'maxConnectionsPerIp' | 'trustProxy'>

/**
 * Closes the connections of an address (or of a network of IPv6) that exceed its limit on this thread. Connections from
 * trusted proxies do not count, because they belong to other clients. The memory grows only with the number of open
 * connections.
 */
export function limitConnections(
  server: Server,
  { maxConnectionsPerIp, trustProxy }: ConnectionSettings,
  registry: Registry,
): void {
  const refused = new Counter({
    name: 'connections_refused_total',
    help: 'Connections refused, by the limit that they exceeded.',
    labelNames: ['limit'],
    registers: [registry],
  })
  server.on('drop', () => refused.inc({ limit: 'maxConnections' }))
  if (maxConnectionsPerIp === 0) return
  const isProxy = createNetworkMatcher(trustProxy)
  const counts = new Map<string, number>()
  // This listener is added after those of the server adapters. So they already track a connection that it refuses, and
  // they forget the connection when it closes.
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket
    if (isProxy(remoteAddress)) return
    const client = toClientNetwork(remoteAddress)
    const count = (counts.get(client) ?? 0) + 1
    counts.set(client, count)
    socket.once('close', () => {
      const left = counts.get(client)! - 1
      if (left > 0) counts.set(client, left)
      else counts.delete(client)
    })
    if (count <= maxConnectionsPerIp) return
    refused.inc({ limit: 'maxConnectionsPerIp' })
    socket.destroy()
  })
}
