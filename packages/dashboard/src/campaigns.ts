import { errors } from './errors.ts'
import type { CampaignVersion, Link } from './messages.ts'
import type { Proxy } from './proxy.ts'
import { textOf, type Answer } from './upstream.ts'

const MAX_REPLY_BYTES = 4_194_304

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

  /** Whether a link shows something. */
  async stateOf(link: Link): Promise<LinkState> {
    return this.readShared(link).then(
      () => 'valid',
      (error: unknown) => ((error as { code?: string }).code === 'LINK_EXPIRED' ? 'deleted' : 'unknown'),
    )
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
