import { errors } from '../errors.ts'
import type { CampaignVersion, ShareLink } from '../messages.ts'
import type { ServiceProxy } from './service-proxy.ts'

const MAX_REPLY_BYTES = 4_194_304
const CONCURRENT_READS = 16

/** A collection as stats returns it. */
export interface StatsCollection {
  readonly id: string
  readonly name?: string
  readonly videos?: readonly string[]
  /** Unique for each creation. Absent if an older version of stats created the collection. */
  readonly created?: string
}

/** Reads campaigns from stats, and checks if a link belongs to the campaign that now has its id. */
export class CampaignReader {
  readonly #proxy: ServiceProxy
  readonly #token: string | undefined

  constructor(proxy: ServiceProxy, token: string | undefined) {
    this.#proxy = proxy
    this.#token = token
  }

  /**
   * The campaign that has this id now.
   * @param query of `GET /collections/:id`
   * @throws Problem `COLLECTION_NOT_FOUND`, `SERVICE_UNREACHABLE`, `SERVICE_SLOW`
   */
  async read(id: string, query = ''): Promise<StatsCollection> {
    const path = `/collections/${encodeURIComponent(id)}${query}`
    const { status, text } = await this.#proxy.read('stats', path, this.#token, MAX_REPLY_BYTES)
    if (status === 404) throw errors.COLLECTION_NOT_FOUND()
    if (status !== 200) throw errors.SERVICE_UNREACHABLE(`stats responded with status ${status}`)
    return JSON.parse(text)
  }

  async readVersion(id: string): Promise<CampaignVersion> {
    const { name, created = '' } = await this.read(id)
    return { campaign: id, birth: created, ...(name !== undefined && { name }) }
  }

  /**
   * The campaign of a link. Data that was read before this call belongs to it, too: if the id has the right campaign now,
   * it had the same campaign since the creation of the link.
   * @throws Problem `LINK_EXPIRED` if the campaign was deleted, even if another campaign has its id; `SERVICE_UNREACHABLE`,
   * `SERVICE_SLOW`
   */
  async readShared(link: ShareLink, query = ''): Promise<StatsCollection> {
    let found: StatsCollection
    try {
      found = await this.read(link.campaign, query)
    } catch (error) {
      throw isNotFound(error) ? createDeletedError() : error
    }
    if (!isLinkedCampaign(link, found)) throw createDeletedError()
    return found
  }

  /** The states of links, in their order. Each campaign is read once, at most `CONCURRENT_READS` at the same time. */
  async readStates(links: readonly ShareLink[]): Promise<LinkState[]> {
    const ids = [...new Set(links.map(({ campaign }) => campaign))]
    const found = new Map<string, StatsCollection | Exclude<LinkState, 'valid'>>()
    for (let i = 0; i < ids.length; i += CONCURRENT_READS)
      await Promise.all(ids.slice(i, i + CONCURRENT_READS).map(async (id) => found.set(id, await this.#find(id))))
    return links.map((link) => {
      const campaign = found.get(link.campaign)!
      if (typeof campaign === 'string') return campaign
      return isLinkedCampaign(link, campaign) ? 'valid' : 'deleted'
    })
  }

  #find(id: string): Promise<StatsCollection | Exclude<LinkState, 'valid'>> {
    return this.read(id).catch((error: unknown) => (isNotFound(error) ? 'deleted' : 'unknown'))
  }
}

/** `unknown`: stats does not respond. */
export const LINK_STATES = ['valid', 'deleted', 'unknown'] as const
export type LinkState = (typeof LINK_STATES)[number]

const createDeletedError = () =>
  errors.LINK_EXPIRED('The campaign of this link was deleted. Ask its sender for another link.')

const isNotFound = (error: unknown) => (error as { code?: string }).code === 'COLLECTION_NOT_FOUND'

/** True if the link belongs to this campaign, not to an earlier one with the same id. */
function isLinkedCampaign({ birth, created }: ShareLink, { created: current = '' }: StatsCollection): boolean {
  if (birth !== undefined) return birth === current
  // A link of an older version has no `birth`: a campaign that is younger than the link is a different one.
  return current === '' || Date.parse(current) <= created
}
