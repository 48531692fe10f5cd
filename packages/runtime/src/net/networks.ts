import { BlockList, isIP, isIPv6 } from 'node:net'
import { formatReceived } from '../received-value.ts'

const NETWORK = /^([0-9a-f.:]+)\/(\d{1,3})$/i

const MAPPED_IPV4_PREFIX = /^::ffff:(?=\d+\.)/i

/** Removes the prefix of an IPv4 address that arrived on a socket of IPv6. */
export const toPlainAddress = (address: string): string => address.replace(MAPPED_IPV4_PREFIX, '')

const getFamily = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** Parses a text that looks like a network (`10.0.0.0/8`) into address and prefix length. Otherwise undefined. */
function parseNetwork(text: string): { address: string; prefix: number } | undefined {
  const [, address, prefix] = NETWORK.exec(text) ?? []
  return address === undefined ? undefined : { address, prefix: Number(prefix) }
}

/** True if a text has the form of a network, even if its address or prefix length is invalid. */
export const isNetworkLike = (text: string): boolean => parseNetwork(text) !== undefined

/** True if a text is a valid network. */
export function isNetwork(text: string): boolean {
  const parts = parseNetwork(text)
  return parts !== undefined && parts.prefix <= ({ 4: 32, 6: 128 }[isIP(parts.address)] ?? -1)
}

/** Returns the reason why an entry is neither an address nor a network, or undefined if it is one. */
export const checkNetworkEntry = (entry: string): string | undefined =>
  isIP(entry) > 0 || isNetwork(entry)
    ? undefined
    : `${formatReceived(entry)} is neither an address nor a network (10.0.0.0/8)`

/** Creates a function that returns true for an address that is an entry, or is in a network of the entries. */
export function createNetworkMatcher(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const entry of entries) {
    const parts = parseNetwork(entry)
    if (parts) list.addSubnet(parts.address, parts.prefix, getFamily(parts.address))
    else list.addAddress(entry, getFamily(entry))
  }
  return (address) => isIP(address) > 0 && list.check(address, getFamily(address))
}
