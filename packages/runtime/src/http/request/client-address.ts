import { isIP } from 'node:net'
import type { RequestHeaders } from '../hot-route.ts'
import { createNetworkMatcher, toPlainAddress } from '../../net/networks.ts'

/**
 * Returns the address of the client.
 * @param peer address of the other end of the connection
 */
export type ClientAddressResolver = (peer: string | undefined, headers: RequestHeaders) => string | undefined

const WITH_PORT = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/

/** Normalizes an address: IPv4 without the prefix of IPv6, and without a port. */
const normalizeAddress = (text: string): string => {
  const [, six, four] = WITH_PORT.exec(text) ?? []
  return toPlainAddress(six ?? four ?? text)
}

/**
 * Creates the resolver. Behind a trusted proxy, the client is the last address in `X-Forwarded-For` that is not a
 * trusted proxy. Any client can forge the addresses before that one.
 * @param trusted addresses and networks of proxies; if empty, the client is the peer
 */
export function createClientAddressResolver(trusted: readonly string[]): ClientAddressResolver {
  if (trusted.length === 0) return (peer) => peer
  const isProxy = createNetworkMatcher(trusted)
  return (peer, headers) => {
    if (peer === undefined || !isProxy(peer)) return peer
    let client = normalizeAddress(peer)
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
    for (const text of forwarded.toReversed()) {
      const address = normalizeAddress(text.trim())
      if (isIP(address) === 0) break
      client = address
      if (!isProxy(address)) break
    }
    return client
  }
}
