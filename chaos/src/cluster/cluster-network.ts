import { createNodeProxy } from '../network/node-proxy.ts'
import type { NetworkFault, FaultProxy } from '../network/proxy.ts'
import type { SeededRandom } from '../random.ts'

/** A member of a network: `server 0`, `node 2`. */
export type NetworkMember = `${'server' | 'node'} ${number}`

interface ProxyLink {
  readonly from: NetworkMember
  readonly to: NetworkMember
  readonly proxy: FaultProxy
}

/** The network between nodes and servers, and among servers. Each connection goes through its own proxy. */
export class ClusterNetwork {
  readonly #random: SeededRandom
  readonly #links: ProxyLink[] = []
  readonly #cut = new Set<ProxyLink>()

  constructor(random: SeededRandom) {
    this.#random = random
  }

  /** The address at which `from` reaches the listener at `url`. */
  async link(from: NetworkMember, to: NetworkMember, url: string): Promise<string> {
    const known = this.#links.find((link) => link.from === from && link.to === to)
    if (known) return toNatsUrl(known.proxy)
    const proxy = await createNodeProxy(url, this.#random.part(`${from} ${to}`))
    this.#links.push({ from, to, proxy })
    return toNatsUrl(proxy)
  }

  /**
   * Cuts all traffic between `these` and `those`: connections stall, or (`down`) end and are refused. With `one-way`
   * only the traffic from `these` to `those` is cut, and the opposite direction works.
   */
  async cut(
    these: readonly NetworkMember[],
    those: readonly NetworkMember[],
    how: 'silent' | 'down' | 'one-way',
  ): Promise<void> {
    for (const link of this.#links) {
      const isFrom = these.includes(link.from) && those.includes(link.to)
      const isTo = these.includes(link.to) && those.includes(link.from)
      if (!isFrom && !isTo) continue
      this.#cut.add(link)
      await link.proxy.set(toFault(how, isFrom))
    }
  }

  /** Removes all faults. */
  async reset(): Promise<void> {
    for (const { proxy } of this.#cut) await proxy.set()
    this.#cut.clear()
  }

  async close(): Promise<void> {
    await Promise.all(this.#links.map(({ proxy }) => proxy.close()))
  }
}

function toFault(how: 'silent' | 'down' | 'one-way', isFrom: boolean): NetworkFault {
  if (how === 'down') return { kind: 'down' }
  if (how === 'silent') return { kind: 'half-open' }
  return { kind: 'half-open', of: isFrom ? 'requests' : 'replies' }
}

const toNatsUrl = ({ url }: FaultProxy) => url.replace('http:', 'nats:')
