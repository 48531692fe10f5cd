import { seal, unseal } from './core/sealed.ts'
import { errors } from './errors.ts'
import type { Link } from './messages.ts'

/** `birth` is absent in links of versions that did not record it. */
type SealedLink = Pick<Link, 'id' | 'campaign' | 'birth' | 'expires'>

const PURPOSE = 'link'
// What a timer can wait for (ms).
const LONGEST_WAIT = 2 ** 31 - 1

export interface LinkQuery {
  readonly campaign?: string | undefined
  /** `next` of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/** In the order of creation, as text; the id distinguishes links of the same millisecond. */
const cursorOf = ({ created, id }: Link) => `${String(created).padStart(15, '0')}.${id}`

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

  /** Valid links, the newest first; of one campaign id if given, which several campaigns may have had. */
  list({ campaign, after, limit }: LinkQuery): { readonly links: readonly Link[]; readonly next?: string } {
    const now = Date.now()
    const found = [...this.#links.values()]
      .filter((link) => link.expires > now && (campaign === undefined || link.campaign === campaign))
      .filter((link) => after === undefined || cursorOf(link) < after)
      .sort((a, b) => (cursorOf(a) < cursorOf(b) ? 1 : -1))
    const links = found.slice(0, limit)
    return { links, ...(found.length > limit && { next: cursorOf(links.at(-1)!) }) }
  }

  /** What the address of a link contains. */
  tokenOf({ id, campaign, birth, expires }: Link): string {
    return seal(this.#key, PURPOSE, {
      id,
      campaign,
      ...(birth !== undefined && { birth }),
      expires,
    } satisfies SealedLink)
  }

  /** The link of a token. @throws Problem `LINK_UNKNOWN`, `LINK_EXPIRED` */
  read(token: string): Link {
    const sealed = unseal<SealedLink>(this.#key, PURPOSE, token)
    if (!sealed) throw errors.LINK_UNKNOWN('The link is incomplete or was changed. Copy the whole link.')
    const link = this.#links.get(sealed.id)
    if (!link || link.expires <= Date.now())
      throw errors.LINK_EXPIRED('The link has expired or was revoked. Ask its sender for another link.')
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
