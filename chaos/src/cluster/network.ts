import { createNodeProxy } from '../network/node-proxy.ts'
import type { Fault, Proxy } from '../network/proxy.ts'
import type { Random } from '../random.ts'

/** Who is in a network: `server 0`, `node 2`. */
export type Member = `${'server' | 'node'} ${number}`

interface Link {
  readonly from: Member
  readonly to: Member
  readonly proxy: Proxy
}

/** Between nodes and servers, and among servers: whoever connects does so by a proxy of its own. */
export class ClusterNetwork {
  readonly #random: Random
  readonly #links: Link[] = []
  readonly #cut = new Set<Link>()

  constructor(random: Random) {
    this.#random = random
  }

  /** The address at which `from` reaches what listens at `url`. */
  async link(from: Member, to: Member, url: string): Promise<string> {
    const known = this.#links.find((link) => link.from === from && link.to === to)
    if (known) return natsUrl(known.proxy)
    const proxy = await createNodeProxy(url, this.#random.part(`${from} ${to}`))
    this.#links.push({ from, to, proxy })
    return natsUrl(proxy)
  }

  /**
   * Lets nothing through between these and those: connections stand still, or (`down`) end and are refused; with `one-way`
   * nothing comes from these to those, and all from those to these.
   */
  async cut(these: readonly Member[], those: readonly Member[], how: 'silent' | 'down' | 'one-way'): Promise<void> {
    for (const link of this.#links) {
      const isFrom = these.includes(link.from) && those.includes(link.to)
      const isTo = these.includes(link.to) && those.includes(link.from)
      if (!isFrom && !isTo) continue
      this.#cut.add(link)
      await link.proxy.set(faultOf(how, isFrom))
    }
  }

  /** All is well again. */
  async heal(): Promise<void> {
    for (const { proxy } of this.#cut) await proxy.set()
    this.#cut.clear()
  }

  async close(): Promise<void> {
    await Promise.all(this.#links.map(({ proxy }) => proxy.close()))
  }
}

function faultOf(how: 'silent' | 'down' | 'one-way', isFrom: boolean): Fault {
  if (how === 'down') return { kind: 'down' }
  if (how === 'silent') return { kind: 'half-open' }
  return { kind: 'half-open', of: isFrom ? 'requests' : 'replies' }
}

const natsUrl = ({ url }: Proxy) => url.replace('http:', 'nats:')
