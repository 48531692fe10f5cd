import { seal, unseal } from './core/sealed.ts'
import { errors } from './errors.ts'
import type { Link } from './messages.ts'

type Sealed = Pick<Link, 'id' | 'campaign' | 'expires'>

const PURPOSE = 'link'
// What a timer can wait for (ms).
const LONGEST_WAIT = 2 ** 31 - 1

/** The links that are out, as every thread knows them. */
export class Links {
  readonly #key: string
  readonly #links: Map<string, Link>
  /** What goes on by a link, and ends with it. */
  readonly #open = new Map<string, Set<AbortController>>()

  constructor(key: string, links: readonly Link[]) {
    this.#key = key
    this.#links = new Map(links.map((link) => [link.id, link]))
  }

  add(link: Link): void {
    this.#links.set(link.id, link)
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#links.delete(id)
      for (const controller of this.#open.get(id) ?? []) controller.abort()
    }
  }

  /** Those of a campaign, the newest first. */
  of(campaign: string): Link[] {
    const now = Date.now()
    const found = [...this.#links.values()].filter((link) => link.campaign === campaign && link.expires > now)
    return found.sort((a, b) => b.created - a.created)
  }

  /** What stands in a link's address. */
  tokenOf({ id, campaign, expires }: Link): string {
    return seal(this.#key, PURPOSE, { id, campaign, expires } satisfies Sealed)
  }

  /** The link that a token is for. @throws Problem `LINK_UNKNOWN`, `LINK_EXPIRED` */
  read(token: string): Link {
    const sealed = unseal<Sealed>(this.#key, PURPOSE, token)
    if (!sealed) throw errors.LINK_UNKNOWN()
    const link = this.#links.get(sealed.id)
    if (!link || link.expires <= Date.now()) throw errors.LINK_EXPIRED()
    return link
  }

  /** Aborted when the link ends; `close` is to be called by whoever has no more use for it. */
  follow({ id, expires }: Link): { readonly ended: AbortSignal; close(): void } {
    const controller = new AbortController()
    const all = this.#open.get(id) ?? new Set()
    this.#open.set(id, all.add(controller))
    const timer = setTimeout(() => controller.abort(), Math.min(expires - Date.now(), LONGEST_WAIT))
    timer.unref()
    return {
      ended: controller.signal,
      close: () => {
        clearTimeout(timer)
        all.delete(controller)
        if (all.size === 0) this.#open.delete(id)
      },
    }
  }
}
