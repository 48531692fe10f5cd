import { isIPv4, isIPv6 } from 'node:net'
import { formatReceived } from '../received-value.ts'
import { createNetworkMatcher, isNetwork, isNetworkLike } from './networks.ts'

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])
const MAX_KNOWN_HOSTS = 1_000
const HOST_NAME = /^[\w.-]+(:\d+)?$|^\[[0-9a-f:.]+\](:\d+)?$|^[0-9a-f:.]+$/i

export const isLoopback = (host: string): boolean =>
  LOOPBACK_HOSTS.has(host) || host === '::1' || (isIPv4(host) && host.startsWith('127.'))

/** Returns the host of a `Host` header without the port, in lower case. */
const toHostName = (host: string) => host.replace(/:\d*$/, '').toLowerCase()

/**
 * Returns the reason why an entry of `allowedHosts` is invalid. Undefined if it is a name, an address or a network.
 */
export function checkHostEntry(entry: string): string | undefined {
  if (isNetworkLike(entry) ? isNetwork(entry) : HOST_NAME.test(entry)) return undefined
  return `${formatReceived(entry)} is neither a host name nor an address nor a network (10.0.0.0/8)`
}

/**
 * Creates a function that returns true for a host, as in a `Host` header, that requests may name, regardless of the
 * address at which they arrive: loopback, the listen address, and the allowed hosts.
 * @param own the listen address of the service. Clients that connect to this address name it as the host. It is safe to
 * accept, because no page of another site can have it as its host name.
 * @param allowed names, addresses, and networks
 */
export function createHostMatcher(own: string, allowed: readonly string[]): (host: string) => boolean {
  const named = [own, ...allowed.filter((entry) => !isNetworkLike(entry))]
  const names = new Set(named.map((host) => (isIPv6(host) ? `[${host}]` : host).toLowerCase()))
  const isInNetwork = createNetworkMatcher(allowed.filter(isNetworkLike))
  // Clients use few spellings of a host. A look-up in a bounded Set replaces a regular expression for each request.
  const known = new Set<string>()

  function isServed(host: string): boolean {
    const name = toHostName(host)
    if (LOOPBACK_HOSTS.has(name) || names.has(name) || names.has(host.toLowerCase())) return true
    return isInNetwork(name.replace(/^\[(.*)\]$/, '$1'))
  }

  return (host) => {
    if (known.has(host)) return true
    if (!isServed(host)) return false
    if (known.size < MAX_KNOWN_HOSTS) known.add(host)
    return true
  }
}
