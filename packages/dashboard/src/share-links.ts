import { seal, unseal } from './core/seal.ts'
import { errors } from './errors.ts'
import type { ShareLink } from './messages.ts'

/** `birth` is absent in links of versions that did not record it. */
type SealedLink = Pick<ShareLink, 'id' | 'campaign' | 'birth' | 'expires'>

const SEAL_PURPOSE = 'link'
// Maximum delay of a timer (ms).
const MAX_TIMER_MS = 2 ** 31 - 1

export interface LinkQuery {
  readonly campaign?: string | undefined
  /** `next` of the previous page. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A text that sorts links by creation time. The id distinguishes links of the same millisecond. */
const toCursor = ({ created, id }: ShareLink) => `${String(created).padStart(15, '0')}.${id}`

/** The issued links. Every thread has a copy. */
export class ShareLinks {
  readonly #key: string
  readonly #links: Map<string, ShareLink>
  /** Open requests of each link. They end when the link ends. */
  readonly #openViews = new Map<string, Set<AbortController>>()

  constructor(key: string, links: readonly ShareLink[]) {
    this.#key = key
    this.#links = new Map(links.map((link) => [link.id, link]))
  }

  add(link: ShareLink): void {
    this.#links.set(link.id, link)
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#links.delete(id)
      for (const controller of this.#openViews.get(id) ?? []) controller.abort()
    }
  }

  /** Valid links, the newest first. `campaign` selects the links of all campaigns that have or had this id. */
  list({ campaign, after, limit }: LinkQuery): { readonly links: readonly ShareLink[]; readonly next?: string } {
    const now = Date.now()
    const found = [...this.#links.values()]
      .filter((link) => link.expires > now && (campaign === undefined || link.campaign === campaign))
      .filter((link) => after === undefined || toCursor(link) < after)
      .sort((a, b) => (toCursor(a) < toCursor(b) ? 1 : -1))
    const links = found.slice(0, limit)
    return { links, ...(found.length > limit && { next: toCursor(links.at(-1)!) }) }
  }

  /** The token in the address of a link. */
  createToken({ id, campaign, birth, expires }: ShareLink): string {
    return seal(this.#key, SEAL_PURPOSE, { id, campaign, birth, expires } satisfies SealedLink)
  }

  /** The link of a token. @throws Problem `LINK_UNKNOWN`, `LINK_EXPIRED` */
  read(token: string): ShareLink {
    const sealed = unseal<SealedLink>(this.#key, SEAL_PURPOSE, token)
    if (!sealed) throw errors.LINK_UNKNOWN('The link is incomplete or was changed. Copy the whole link.')
    const link = this.#links.get(sealed.id)
    if (!link || link.expires <= Date.now())
      throw errors.LINK_EXPIRED('The link has expired or was revoked. Ask its sender for another link.')
    return link
  }

  /** A signal that aborts when the link ends, at the latest after `MAX_TIMER_MS` (25 days). The caller must call `close` when it no longer needs the signal. */
  follow({ id, expires }: ShareLink): { readonly ended: AbortSignal; close(): void } {
    const controller = new AbortController()
    const all = this.#openViews.get(id) ?? new Set()
    this.#openViews.set(id, all.add(controller))
    const timer = setTimeout(() => controller.abort(), Math.min(expires - Date.now(), MAX_TIMER_MS))
    timer.unref()
    return {
      ended: controller.signal,
      close: () => {
        clearTimeout(timer)
        all.delete(controller)
        if (all.size === 0) this.#openViews.delete(id)
      },
    }
  }
}
