/** The stats of a collection as the service returns them. */
export interface ServedStats {
  readonly impressions: number
  readonly engagements: number
  readonly score: number
  readonly videos: number
  readonly missing: readonly string[]
  readonly stale: boolean
}

/** The numbers of YouTube from one moment on. */
interface OracleVersion {
  /** Time at which they were read (ms since 1970). */
  readonly since: number
  /** Impressions, engagements and score by collection. */
  readonly sums: ReadonlyMap<string, readonly number[]>
}

const IDS_PER_CALL = 50
/** Tolerance for the duration of a call and the delay until a test observes a change (ms). */
const SLACK_MS = 1_500

/** True if each number has grown by `minGrowth` or more. */
const hasGrown = (before: readonly number[], after: readonly number[], minGrowth = 0) =>
  before.every((sum, i) => after[i]! - sum >= minGrowth)

const getSums = ({ impressions, engagements, score }: ServedStats) => [impressions, engagements, score]

/**
 * Knows all numbers that YouTube had since the start. It reads them without the faults of the network: `readNumbers`
 * adds a version. If a service needs several calls for a collection, they may return different versions, so each sum
 * may be between its values in these versions. A collection of one call has the sums of one version.
 */
export class Oracle {
  readonly #url: string
  readonly #collections: readonly { readonly id: string; readonly videos: readonly string[] }[]
  readonly #versions: OracleVersion[] = []

  constructor(url: string, collections: readonly { readonly id: string; readonly videos: readonly string[] }[]) {
    this.#url = url
    this.#collections = collections
  }

  /** Reads a new version. @throws Error unless all numbers have grown */
  async readNumbers(): Promise<void> {
    const since = Date.now()
    const sums = new Map<string, readonly number[]>()
    for (const { id, videos } of this.#collections) sums.set(id, await this.#sums(videos))
    const before = this.#versions.at(-1)
    if (before && [...sums].some(([id, now]) => !hasGrown(before.sums.get(id)!, now, 1)))
      throw new Error('the numbers have not grown')
    this.#versions.push({ since, sums })
  }

  /** True if the stats of a collection are those of the newest version. */
  isCurrent(id: string, numbers: ServedStats): boolean {
    const { length } = this.#versions
    return this.#isBetween(id, numbers, length - 1, length - 1)
  }

  /** True if the stats of a collection were right at any time. */
  wasEverCurrent(id: string, numbers: ServedStats): boolean {
    return this.#isBetween(id, numbers, 0, this.#versions.length - 1)
  }

  /**
   * Returns a description of the error in a reply: numbers that never existed, or old numbers that are reported as
   * fresh.
   * @param requestedAt time of the request (ms since 1970)
   * @param maxFreshAge maximum age of numbers that are reported as fresh (ms)
   */
  findViolation(id: string, numbers: ServedStats, requestedAt: number, maxFreshAge: number): string | undefined {
    if (!this.wasEverCurrent(id, numbers) || numbers.missing.length > 0)
      return `${JSON.stringify(numbers).slice(0, 200)} was never right`
    const oldest = this.#versions.findLastIndex(({ since }) => since < requestedAt - maxFreshAge - SLACK_MS)
    if (!numbers.stale && !this.#isBetween(id, numbers, Math.max(0, oldest), this.#versions.length - 1))
      return `numbers that are older than ${maxFreshAge + SLACK_MS} ms are reported as fresh`
    return undefined
  }

  #isBetween(id: string, numbers: ServedStats, from: number, to: number): boolean {
    const sums = getSums(numbers)
    const versions = this.#versions.slice(from, to + 1).map((version) => version.sums.get(id)!)
    const { videos } = this.#collections.find((collection) => collection.id === id)!
    if (videos.length <= IDS_PER_CALL) return versions.some((version) => version.join() === sums.join())
    return hasGrown(versions[0]!, sums) && hasGrown(sums, versions.at(-1)!)
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
