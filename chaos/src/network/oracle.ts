/** The stats of a collection as the service returns them. */
export interface ServedStats {
  readonly impressions: number
  readonly engagements: number
  readonly score: number
  readonly videos: number
  readonly missing: readonly string[]
  readonly stale: boolean
}

interface OracleVersion {
  readonly since: number
  /** By collection. */
  readonly sums: ReadonlyMap<string, readonly number[]>
}

const IDS_PER_CALL = 50
/** Maximum duration of a call without faults, and delay with which a test observes a change (ms). */
const SLACK_MS = 1_500

const isBelow = (one: readonly number[], other: readonly number[], least = 0) =>
  one.every((sum, i) => other[i]! - sum >= least)

const getSums = ({ impressions, engagements, score }: ServedStats) => [impressions, engagements, score]

/**
 * The numbers of YouTube since the start, requested without any fault. `changed` fetches new numbers, all of which have
 * grown. A collection of several calls may mix two successive versions, so its sums are between those of both. A
 * collection of one call has one version.
 */
export class Oracle {
  readonly #url: string
  readonly #collections: readonly { readonly id: string; readonly videos: readonly string[] }[]
  readonly #versions: OracleVersion[] = []

  constructor(url: string, collections: readonly { readonly id: string; readonly videos: readonly string[] }[]) {
    this.#url = url
    this.#collections = collections
  }

  async readNumbers(): Promise<void> {
    const since = Date.now()
    const sums = new Map<string, readonly number[]>()
    for (const { id, videos } of this.#collections) sums.set(id, await this.#sums(videos))
    const before = this.#versions.at(-1)
    if (before && [...sums].some(([id, now]) => !isBelow(before.sums.get(id)!, now, 1)))
      throw new Error('the numbers have not grown')
    this.#versions.push({ since, sums })
  }

  isNow(id: string, numbers: ServedStats): boolean {
    const { length } = this.#versions
    return this.#isBetween(id, numbers, length - 1, length - 1)
  }

  wasEver(id: string, numbers: ServedStats): boolean {
    return this.#isBetween(id, numbers, 0, this.#versions.length - 1)
  }

  /** Error in a reply at the given time: numbers that never existed, or old numbers that are reported as fresh. */
  findFault(id: string, numbers: ServedStats, requestedAt: number, fresh: number): string | undefined {
    if (!this.wasEver(id, numbers) || numbers.missing.length > 0)
      return `${JSON.stringify(numbers).slice(0, 200)} was never right`
    const oldest = this.#versions.findLastIndex(({ since }) => since < requestedAt - fresh - SLACK_MS)
    if (!numbers.stale && !this.#isBetween(id, numbers, Math.max(0, oldest), this.#versions.length - 1))
      return `numbers of ${fresh + SLACK_MS} ms ago and more are called fresh`
    return undefined
  }

  #isBetween(id: string, numbers: ServedStats, from: number, to: number): boolean {
    const sums = getSums(numbers)
    const versions = this.#versions.slice(from, to + 1).map((version) => version.sums.get(id)!)
    const { videos } = this.#collections.find((collection) => collection.id === id)!
    if (videos.length <= IDS_PER_CALL) return versions.some((version) => version.join() === sums.join())
    return isBelow(versions[0]!, sums) && isBelow(sums, versions.at(-1)!)
  }

  async #sums(videos: readonly string[]): Promise<readonly number[]> {
    let impressions = 0
    let likes = 0
    let others = 0
    for (let i = 0; i < videos.length; i += IDS_PER_CALL) {
      const query = `part=statistics&key=stand-in&id=${videos.slice(i, i + IDS_PER_CALL).join()}`
      const { items } = (await (await fetch(`${this.#url}/youtube/v3/videos?${query}`)).json()) as { items: any[] }
      for (const { statistics: one } of items) {
        impressions += Number(one.viewCount)
        likes += Number(one.likeCount ?? 0)
        others += Number(one.commentCount ?? 0) + Number(one.dislikeCount ?? 0)
      }
    }
    const engagements = likes + others
    return [impressions, engagements, engagements + likes]
  }
}
