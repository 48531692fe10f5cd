/** What stats tells of a collection. */
export interface Numbers {
  readonly impressions: number
  readonly engagements: number
  readonly score: number
  readonly videos: number
  readonly missing: readonly string[]
  readonly stale: boolean
}

interface Version {
  readonly since: number
  /** By collection. */
  readonly sums: ReadonlyMap<string, readonly number[]>
}

const IDS_PER_CALL = 50
/** A call takes this long at most where nothing is wrong, and a test sees what it sees so much later (ms). */
const SLACK = 1_500

const sumsOf = ({ impressions, engagements, score }: Numbers) => [impressions, engagements, score]

/** The numbers that YouTube has had since the start, asked past every fault; `changed` asks for new ones. */
export class Truth {
  readonly #url: string
  readonly #collections: readonly { readonly id: string; readonly videos: readonly string[] }[]
  readonly #versions: Version[] = []

  constructor(url: string, collections: readonly { readonly id: string; readonly videos: readonly string[] }[]) {
    this.#url = url
    this.#collections = collections
  }

  async changed(): Promise<void> {
    const since = Date.now()
    const sums = new Map<string, readonly number[]>()
    for (const { id, videos } of this.#collections) sums.set(id, await this.#sums(videos))
    this.#versions.push({ since, sums })
  }

  isNow(id: string, numbers: Numbers): boolean {
    return this.#indexOf(id, numbers) === this.#versions.length - 1
  }

  wasEver(id: string, numbers: Numbers): boolean {
    return this.#indexOf(id, numbers) >= 0
  }

  /** What is wrong with a reply that was asked for then: numbers that never were, or old ones that are called fresh. */
  fault(id: string, numbers: Numbers, asked: number, fresh: number): string | undefined {
    const index = this.#indexOf(id, numbers)
    if (index < 0 || numbers.missing.length > 0) return `${JSON.stringify(numbers).slice(0, 200)} was never right`
    const until = this.#versions[index + 1]?.since ?? Infinity
    if (!numbers.stale && until < asked - fresh - SLACK)
      return `numbers of ${fresh + SLACK} ms ago and more are called fresh`
    return undefined
  }

  #indexOf(id: string, numbers: Numbers): number {
    const sums = sumsOf(numbers).join()
    return this.#versions.findLastIndex((version) => version.sums.get(id)!.join() === sums)
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
