import { createNodeProxy } from '../network/node-proxy.ts'
import type { NetworkFault, FaultProxy } from '../network/proxy.ts'
import type { SeededRandom } from '../random.ts'

/** Who is in a network: `server 0`, `node 2`. */
export type NetworkMember = `${'server' | 'node'} ${number}`

interface ProxyLink {
  readonly from: NetworkMember
  readonly to: NetworkMember
  readonly proxy: FaultProxy
}

/** Between nodes and servers, and among servers: whoever connects does so by a proxy of its own. */
export class ClusterNetwork {
  readonly #random: SeededRandom
  readonly #links: ProxyLink[] = []
  readonly #cut = new Set<ProxyLink>()

  constructor(random: SeededRandom) {
    this.#random = random
  }

  /** The address at which `from` reaches what listens at `url`. */
  async link(from: NetworkMember, to: NetworkMember, url: string): Promise<string> {
    const known = this.#links.find((link) => link.from === from && link.to === to)
    if (known) return toNatsUrl(known.proxy)
    const proxy = await createNodeProxy(url, this.#random.part(`${from} ${to}`))
    this.#links.push({ from, to, proxy })
    return toNatsUrl(proxy)
  }

  /**
   * Lets nothing through between these and those: connections stand still, or (`down`) end and are refused; with `one-way`
   * nothing comes from these to those, and all from those to these.
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

  /** All is well again. */
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
