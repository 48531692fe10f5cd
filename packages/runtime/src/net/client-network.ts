import { toPlainAddress } from './networks.ts'

/** Number of 16-bit groups of an IPv6 address that identify its network. */
const NETWORK_GROUPS = 4

/**
 * Returns a text that identifies the client with this address: the address, or for IPv6 its network of 64 bits. One
 * client usually has a whole IPv6 network.
 */
export function toClientNetwork(text: string): string {
  const address = toPlainAddress(text)
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const [before, after] = [head, tail].map((part) => part.split(':').filter(Boolean)) as [string[], string[]]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after]
    .slice(0, NETWORK_GROUPS)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')
}
