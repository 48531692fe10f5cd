import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { Picture } from './picture-source.ts'

/** Maximum size of all pictures in memory (bytes): some 1,600 pictures. */
const MAX_BYTES = 16_777_216
/** Size that an entry has in addition to its bytes. */
const ENTRY_BYTES = 200
const PICTURE_TTL_MS = 86_400_000
const MISS_TTL_MS = 600_000
/** Time without requests after the source did not respond: offline, a page needs no time-out per picture. */
const PAUSE_MS = 30_000
const MAX_CONCURRENT = 8
/** Maximum number of pictures that wait for the source. */
const MAX_WAITING = 500

interface CachedPicture {
  /** Absent if the source has none. */
  readonly picture?: Picture | undefined
  readonly until: number
}

const getSize = ({ picture }: CachedPicture) => ENTRY_BYTES + (picture?.bytes.length ?? 0)

/** Pictures of videos and channels, in a cache in memory that drops the least recently used ones. */
export class Thumbnails {
  readonly #fetch: (key: string) => Promise<Picture | undefined>
  readonly #now: () => number
  readonly #maxBytes: number
  readonly #cached = new Map<string, CachedPicture>()
  readonly #running = new Map<string, Promise<Picture | undefined>>()
  readonly #queue: (() => void)[] = []
  #bytes = 0
  #active = 0
  #pausedUntil = -Infinity

  /** @param fetch reads the picture of a key. It rejects if the source does not respond */
  constructor(
    fetch: (key: string) => Promise<Picture | undefined>,
    { now = steadyNow, maxBytes = MAX_BYTES }: { now?: () => number; maxBytes?: number } = {},
  ) {
    this.#fetch = fetch
    this.#now = now
    this.#maxBytes = maxBytes
  }

  /** Returns a picture; undefined if there is none, or if the source does not respond. */
  async get(key: string): Promise<Picture | undefined> {
    const cached = this.#cached.get(key)
    if (cached && cached.until > this.#now()) {
      // The newest use comes last.
      this.#cached.delete(key)
      this.#cached.set(key, cached)
      return cached.picture
    }
    const running = this.#running.get(key) ?? this.#start(key)
    return running
  }

  #start(key: string): Promise<Picture | undefined> {
    const running = this.#read(key).finally(() => this.#running.delete(key))
    this.#running.set(key, running)
    return running
  }

  async #read(key: string): Promise<Picture | undefined> {
    if (this.#isPaused || this.#queue.length >= MAX_WAITING) return undefined
    if (this.#active >= MAX_CONCURRENT) await new Promise<void>((resolve) => this.#queue.push(resolve))
    else this.#active++
    try {
      if (this.#isPaused) return undefined
      const picture = await this.#fetch(key)
      this.#store(key, { picture, until: this.#now() + (picture ? PICTURE_TTL_MS : MISS_TTL_MS) })
      return picture
    } catch {
      this.#pausedUntil = this.#now() + PAUSE_MS
      return undefined
    } finally {
      const next = this.#queue.shift()
      if (next) next()
      else this.#active--
    }
  }

  get #isPaused(): boolean {
    return this.#now() < this.#pausedUntil
  }

  #store(key: string, entry: CachedPicture): void {
    this.#delete(key)
    this.#cached.set(key, entry)
    this.#bytes += getSize(entry)
    for (const oldest of this.#cached.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    const before = this.#cached.get(key)
    if (before) this.#bytes -= getSize(before)
    this.#cached.delete(key)
  }
}
