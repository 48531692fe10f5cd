import { BlockList, isIP, isIPv6 } from 'node:net'

const NETWORK = /^([0-9a-f.:]+)\/(\d{1,3})$/i

const MAPPED_IPV4_PREFIX = /^::ffff:(?=\d+\.)/i

/** An address of IPv4 as such, though it came by a socket of IPv6. */
export const toPlainAddress = (address: string): string => address.replace(MAPPED_IPV4_PREFIX, '')

const getFamily = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** The address and the length of its prefix where a text looks like a network (`10.0.0.0/8`). */
function parseNetwork(text: string): { address: string; prefix: number } | undefined {
  const [, address, prefix] = NETWORK.exec(text) ?? []
  return address === undefined ? undefined : { address, prefix: Number(prefix) }
}

export const isNetworkLike = (text: string): boolean => parseNetwork(text) !== undefined

/** Whether a text is a network that there can be. */
export function isNetwork(text: string): boolean {
  const parts = parseNetwork(text)
  return parts !== undefined && parts.prefix <= ({ 4: 32, 6: 128 }[isIP(parts.address)] ?? -1)
}

/** Why an entry is neither an address nor a network; nothing where it is one. */
export const checkNetworkEntry = (entry: string): string | undefined =>
  isIP(entry) > 0 || isNetwork(entry) ? undefined : `"${entry}" is neither an address nor a network (10.0.0.0/8)`

/** A test for addresses: whether one is among these addresses and networks. */
export function createNetworkMatcher(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const entry of entries) {
    const parts = parseNetwork(entry)
    if (parts) list.addSubnet(parts.address, parts.prefix, getFamily(parts.address))
    else list.addAddress(entry, getFamily(entry))
  }
  return (address) => isIP(address) > 0 && list.check(address, getFamily(address))
}
