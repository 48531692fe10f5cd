import { errors } from './errors.ts'
import type { CampaignVersion, Link } from './messages.ts'
import type { Proxy } from './proxy.ts'
import { textOf, type Answer } from './upstream.ts'

const MAX_REPLY_BYTES = 4_194_304
const CONCURRENT_READS = 16

/** A collection as stats returns it. */
export interface StatsCollection {
  readonly id: string
  readonly name?: string
  /** Another time for each creation. Absent if a version of stats made it that did not record it. */
  readonly created?: string
}

/** Reads campaigns from stats, to compare them with those that links were made for. */
export class Campaigns {
  readonly #proxy: Pick<Proxy, 'ask'>
  readonly #token: string | undefined

  constructor(proxy: Pick<Proxy, 'ask'>, token: string | undefined) {
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
    const answer = await this.#proxy.ask('stats', { method: 'GET', path, headers: {}, token: this.#token })
    return readCollection(answer)
  }

  async readVersion(id: string): Promise<CampaignVersion> {
    const { name, created = '' } = await this.read(id)
    return { campaign: id, birth: created, ...(name !== undefined && { name }) }
  }

  /**
   * The campaign of a link. What was read before this call belongs to it, too: an id that has the right campaign now had
   * it ever since the link was made.
   * @throws Problem `LINK_EXPIRED` if it was deleted, even if another has its id; those of `read`
   */
  async readShared(link: Link, query = ''): Promise<StatsCollection> {
    let found: StatsCollection
    try {
      found = await this.read(link.campaign, query)
    } catch (error) {
      throw isNotFound(error) ? deleted() : error
    }
    if (!isFor(link, found)) throw deleted()
    return found
  }

  /** The states of links, in their order. Each campaign is read once, at most `CONCURRENT_READS` at the same time. */
  async readStates(links: readonly Link[]): Promise<LinkState[]> {
    const ids = [...new Set(links.map(({ campaign }) => campaign))]
    const found = new Map<string, StatsCollection | Exclude<LinkState, 'valid'>>()
    for (let i = 0; i < ids.length; i += CONCURRENT_READS)
      await Promise.all(ids.slice(i, i + CONCURRENT_READS).map(async (id) => found.set(id, await this.#find(id))))
    return links.map((link) => {
      const campaign = found.get(link.campaign)!
      if (typeof campaign === 'string') return campaign
      return isFor(link, campaign) ? 'valid' : 'deleted'
    })
  }

  #find(id: string): Promise<StatsCollection | Exclude<LinkState, 'valid'>> {
    return this.read(id).catch((error: unknown) => (isNotFound(error) ? 'deleted' : 'unknown'))
  }
}

/** `unknown`: stats does not respond. */
export const LINK_STATES = ['valid', 'deleted', 'unknown'] as const
export type LinkState = (typeof LINK_STATES)[number]

const deleted = () => errors.LINK_EXPIRED('The campaign of this link was deleted. Ask its sender for another link.')

const isNotFound = (error: unknown) => (error as { code?: string }).code === 'COLLECTION_NOT_FOUND'

/** True if a link was made for this campaign, not for an earlier one of the same id. */
function isFor({ birth, created }: Link, { created: now = '' }: StatsCollection): boolean {
  if (birth !== undefined) return birth === now
  // A link of an older version: a campaign that is younger than the link is another one.
  return now === '' || Date.parse(now) <= created
}

async function readCollection(answer: Answer): Promise<StatsCollection> {
  const text = await textOf(answer, MAX_REPLY_BYTES)
  if (answer.status === 404) throw errors.COLLECTION_NOT_FOUND()
  if (answer.status !== 200) throw errors.SERVICE_UNREACHABLE(`stats responded with status ${answer.status}`)
  return JSON.parse(text)
}
