import type { LookedUpVideos } from '../core/paste/preview.ts'
import { IDS_PER_CALL, isLookupAllowed } from '../core/quota-budget.ts'
import type { VideoDetails } from '../core/video-details.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import type { SideCaller } from '../youtube/side-caller.ts'

/** Maximum number of ids of one look-up: 4 units. */
const MAX_IDS = 200
/** Time for which a result is cached (ms): a person edits a paste several times. */
const CACHE_MS = 600_000
const MAX_CACHED = 5_000

export interface VideoLookupOptions {
  readonly caller: Pick<SideCaller, 'findVideos'>
  readonly meter: Pick<QuotaMeter, 'remainingQuota'>
  readonly logger: Pick<StatsLogger, 'info'>
  /** Returns false while no call may be made, such as in an outage. */
  canCall(): boolean
  readonly now?: () => number
}

interface CachedVideo {
  readonly details: VideoDetails | undefined
  readonly until: number
}

/** Finds out which ids that a person entered are videos. A unit of quota pays for 50 ids. */
export class VideoLookup {
  readonly #options: VideoLookupOptions
  readonly #now: () => number
  /** In the order of insertion. */
  readonly #cache = new Map<string, CachedVideo>()

  constructor(options: VideoLookupOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  /** Looks up distinct ids. Never rejects: ids that cannot be looked up are `failed`. */
  async find(ids: readonly string[]): Promise<LookedUpVideos> {
    const cached = ids.map((id) => this.#getCached(id))
    const found = cached.flatMap((one) => one?.details ?? [])
    const unknown = ids.filter((_, i) => !cached[i])
    const failed = unknown.slice(MAX_IDS)
    for (let i = 0; i < Math.min(unknown.length, MAX_IDS); i += IDS_PER_CALL) {
      const some = unknown.slice(i, Math.min(i + IDS_PER_CALL, MAX_IDS))
      const details = await this.#request(some)
      if (details) found.push(...details)
      else failed.push(...some)
    }
    return { found, failed }
  }

  #getCached(id: string): CachedVideo | undefined {
    const cached = this.#cache.get(id)
    return cached && cached.until > this.#now() ? cached : undefined
  }

  async #request(ids: readonly string[]): Promise<VideoDetails[] | undefined> {
    const { caller, meter, logger, canCall } = this.#options
    if (!canCall() || !isLookupAllowed(meter.remainingQuota)) return undefined
    try {
      const details = await caller.findVideos(ids)
      this.#store(ids, details)
      return details
    } catch (fault) {
      logger.info(`${ids.length} pasted words could not be looked up: ${(fault as Error).message}`)
      return undefined
    }
  }

  #store(ids: readonly string[], details: readonly VideoDetails[]): void {
    const byId = new Map(details.map((one) => [one.id, one]))
    const until = this.#now() + CACHE_MS
    for (const id of ids) {
      this.#cache.delete(id)
      this.#cache.set(id, { details: byId.get(id), until })
    }
    for (const id of this.#cache.keys()) {
      if (this.#cache.size <= MAX_CACHED) return
      this.#cache.delete(id)
    }
  }
}
