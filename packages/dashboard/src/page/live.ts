import type { LiveValue } from './core/live-row.ts'

export type LiveState = 'connecting' | 'live' | 'lost'

/** The newest value of each collection that had one since the last time. */
export type Updates = ReadonlyMap<string, LiveValue>

interface Listener {
  /** At most four times a second. */
  values?(updates: Updates): void
  state?(state: LiveState): void
  /** Values were lost: whatever is shown is to be read anew. */
  gap?(): void
}

/** An eye cannot follow more, and a page that lies open all day is to cost little (ms). */
const TOLD_EVERY = 250
const FIRST_RETRY = 500
const LAST_RETRY = 3_000
/** A page that nobody sees lets go of its stream (ms): a browser has six connections to a host for all its tabs. */
const HIDDEN_FOR = 10_000

/** The one stream of the page. Loses nothing: it says where it was when it is back, or that something is missing. */
export class Live {
  readonly #url: string
  readonly #listeners = new Set<Listener>()
  readonly #pending = new Map<string, LiveValue>()
  #source: EventSource | undefined
  #lastId = ''
  #retry = FIRST_RETRY
  #timer: ReturnType<typeof setTimeout> | undefined
  #isTelling = false
  #toldAt = -TOLD_EVERY
  #wasOpen = false
  state: LiveState = 'connecting'

  /** @param url with a query */
  constructor(url: string) {
    this.#url = url
    document.addEventListener('visibilitychange', () => this.#followVisibility())
    this.#open()
  }

  /** @returns what ends it */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Replaces a stream that may be dead without a sign. */
  reconnect(): void {
    if (document.hidden) return
    this.#setState('connecting')
    this.#open()
  }

  #open(): void {
    clearTimeout(this.#timer)
    this.#source?.close()
    const since = this.#lastId && `&lastEventId=${encodeURIComponent(this.#lastId)}`
    const source = (this.#source = new EventSource(this.#url + since))
    source.addEventListener('open', () => {
      this.#retry = FIRST_RETRY
      // Without a place to go on from whatever came meanwhile is lost.
      if (this.#wasOpen && !this.#lastId) this.reportGap()
      this.#wasOpen = true
      this.#setState('live')
    })
    source.addEventListener('message', ({ data, lastEventId }) => {
      this.#lastId = lastEventId
      this.#take(data)
    })
    source.addEventListener('gap', ({ lastEventId }) => {
      this.#lastId = lastEventId
      this.reportGap()
    })
    source.addEventListener('error', () => {
      this.#setState('lost')
      // A refusal ends an EventSource; a lost connection it mends itself.
      if (source.readyState !== EventSource.CLOSED) return
      this.#timer = setTimeout(() => this.#open(), this.#retry)
      this.#retry = Math.min(2 * this.#retry, LAST_RETRY)
    })
  }

  #take(data: string): void {
    const { value } = JSON.parse(data)
    const told: LiveValue = JSON.parse(value)
    this.#pending.set(told.id, told)
    if (this.#isTelling) return
    this.#isTelling = true
    // The first after a pause at once.
    setTimeout(() => requestAnimationFrame(() => this.#tell()), this.#toldAt + TOLD_EVERY - performance.now())
  }

  #tell(): void {
    this.#isTelling = false
    this.#toldAt = performance.now()
    const updates = new Map(this.#pending)
    this.#pending.clear()
    for (const listener of this.#listeners) listener.values?.(updates)
  }

  /** Makes all screens read their values again. */
  reportGap(): void {
    for (const listener of this.#listeners) listener.gap?.()
  }

  #setState(state: LiveState): void {
    if (state === this.state) return
    this.state = state
    for (const listener of this.#listeners) listener.state?.(state)
  }

  #followVisibility(): void {
    clearTimeout(this.#timer)
    if (!document.hidden) {
      if (!this.#source || this.#source.readyState === EventSource.CLOSED) this.#open()
      return
    }
    this.#timer = setTimeout(() => {
      this.#source?.close()
      this.#source = undefined
      this.#setState('connecting')
    }, HIDDEN_FOR)
  }
}
