import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Counter, type Registry } from '../metrics/prom-client.ts'
import type { CommonSettings } from '../settings/settings.ts'
import { createNetworkMatcher } from '../http/networks.ts'
import { toClientNetwork } from './rate-limits.ts'

type ConnectionSettings = Pick<CommonSettings, 'maxConnectionsPerIp' | 'trustProxy'>

/**
 * Cuts connections of an address that has as many already as one may have, on this thread; those of proxies that are
 * trusted are others'. What is remembered is no more than there are connections.
 */
export function limitConnections(
  server: Server,
  { maxConnectionsPerIp, trustProxy }: ConnectionSettings,
  registry: Registry,
): void {
  const refused = new Counter({
    name: 'connections_refused_total',
    help: 'Connections that were cut at once, by the limit that they passed.',
    labelNames: ['limit'],
    registers: [registry],
  })
  server.on('drop', () => refused.inc({ limit: 'maxConnections' }))
  if (maxConnectionsPerIp === 0) return
  const isProxy = createNetworkMatcher(trustProxy)
  const counts = new Map<string, number>()
  // Behind those who read it: they know what to do about one that is cut.
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
