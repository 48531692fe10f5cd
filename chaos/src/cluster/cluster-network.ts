import { createNodeProxy } from '../network/node-proxy.ts'
import type { NetworkFault, FaultProxy } from '../network/proxy.ts'
import type { SeededRandom } from '../random.ts'

/** A server of NATS or a node, by its index: `server 0`, `node 2`. */
export type NetworkMember = `${'server' | 'node'} ${number}`

/** A direction of connections and its proxy. */
interface ProxyLink {
  readonly from: NetworkMember
  readonly to: NetworkMember
  readonly proxy: FaultProxy
}

/** The network between nodes and servers, and among servers. Each pair has its own proxy. */
export class ClusterNetwork {
  readonly #random: SeededRandom
  readonly #links: ProxyLink[] = []
  readonly #cutLinks = new Set<ProxyLink>()

  constructor(random: SeededRandom) {
    this.#random = random
  }

  /** Returns the address under which `from` reaches `to`, which listens at `url`. */
  async link(from: NetworkMember, to: NetworkMember, url: string): Promise<string> {
    const known = this.#links.find((link) => link.from === from && link.to === to)
    if (known) return toNatsUrl(known.proxy)
    const proxy = await createNodeProxy(url, this.#random.part(`${from} ${to}`))
    this.#links.push({ from, to, proxy })
    return toNatsUrl(proxy)
  }

  /**
   * Cuts the traffic between `members` and `others`. With `silent`, connections stay open without data. With `down`,
   * they end and are refused. With `one-way`, only data from `members` to `others` is lost.
   */
  async cut(
    members: readonly NetworkMember[],
    others: readonly NetworkMember[],
    mode: 'silent' | 'down' | 'one-way',
  ): Promise<void> {
    for (const link of this.#links) {
      const isFrom = members.includes(link.from) && others.includes(link.to)
      const isTo = members.includes(link.to) && others.includes(link.from)
      if (!isFrom && !isTo) continue
      this.#cutLinks.add(link)
      await link.proxy.set(toFault(mode, isFrom))
    }
  }

  /** Removes all faults. */
  async reset(): Promise<void> {
    for (const { proxy } of this.#cutLinks) await proxy.set()
    this.#cutLinks.clear()
  }

  async close(): Promise<void> {
    await Promise.all(this.#links.map(({ proxy }) => proxy.close()))
  }
}

/** @param isFrom true if the connection was opened by one of `members` */
function toFault(mode: 'silent' | 'down' | 'one-way', isFrom: boolean): NetworkFault {
  if (mode === 'down') return { kind: 'down' }
  if (mode === 'silent') return { kind: 'half-open' }
  return { kind: 'half-open', direction: isFrom ? 'requests' : 'replies' }
}

const toNatsUrl = ({ url }: FaultProxy) => url.replace('http:', 'nats:')
