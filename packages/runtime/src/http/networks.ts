import { BlockList, isIP, isIPv6 } from 'node:net'

const NETWORK = /^([0-9a-f.:]+)\/(\d{1,3})$/i

const MAPPED = /^::ffff:(?=\d+\.)/i

/** An address of IPv4 as such, though it came by a socket of IPv6. */
export const plainAddress = (address: string): string => address.replace(MAPPED, '')

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** The address and the length of its prefix where a text looks like a network (`10.0.0.0/8`). */
function partsOf(text: string): { address: string; prefix: number } | undefined {
  const [, address, prefix] = NETWORK.exec(text) ?? []
  return address === undefined ? undefined : { address, prefix: Number(prefix) }
}

export const looksLikeNetwork = (text: string): boolean => partsOf(text) !== undefined

/** Whether a text is a network that there can be. */
export function isNetwork(text: string): boolean {
  const parts = partsOf(text)
  return parts !== undefined && parts.prefix <= ({ 4: 32, 6: 128 }[isIP(parts.address)] ?? -1)
}

/** Why an entry is neither an address nor a network; nothing where it is one. */
export const networkFault = (entry: string): string | undefined =>
  isIP(entry) > 0 || isNetwork(entry) ? undefined : `"${entry}" is neither an address nor a network (10.0.0.0/8)`

/** A test for addresses: whether one is among these addresses and networks. */
export function createNetworks(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const entry of entries) {
    const parts = partsOf(entry)
    if (parts) list.addSubnet(parts.address, parts.prefix, familyOf(parts.address))
    else list.addAddress(entry, familyOf(entry))
  }
  return (address) => isIP(address) > 0 && list.check(address, familyOf(address))
}
