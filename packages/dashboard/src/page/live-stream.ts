import type { LiveValue } from './core/live-row.ts'

export type StreamState = 'connecting' | 'live' | 'lost'

/** The newest value of each collection that changed since the last update. */
export type LiveUpdates = ReadonlyMap<string, LiveValue>

interface LiveListener {
  /** Called at most four times a second. */
  values?(updates: LiveUpdates): void
  state?(state: StreamState): void
  /** Called when values were lost: the screens must read their data again. */
  gap?(): void
}

/**
 * Minimum time between two updates of the screens (ms). A reader cannot follow more, and a page that is open all day should
 * use little CPU time.
 */
const PUBLISH_INTERVAL_MS = 250
const MIN_RETRY_MS = 500
const MAX_RETRY_MS = 3_000
/** A hidden page closes its stream after this time (ms): a browser has six connections to a host for all its tabs. */
const MAX_HIDDEN_MS = 10_000

/** The only stream of the page. It resumes with its last event id, or reports a gap to its listeners. */
export class LiveStream {
  readonly #url: string
  readonly #listeners = new Set<LiveListener>()
  readonly #pending = new Map<string, LiveValue>()
  #source: EventSource | undefined
  #lastId = ''
  #retry = MIN_RETRY_MS
  #timer: ReturnType<typeof setTimeout> | undefined
  #isPublishScheduled = false
  #publishedAt = -PUBLISH_INTERVAL_MS
  #wasOpen = false
  state: StreamState = 'connecting'

  /** @param url address of the stream, which must have a query */
  constructor(url: string) {
    this.#url = url
    document.addEventListener('visibilitychange', () => this.#followVisibility())
    this.#open()
  }

  /** @returns a function that removes the listener */
  listen(listener: LiveListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Replaces a stream that may be dead without an event. */
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
      this.#retry = MIN_RETRY_MS
      // Without a last event id, the values since the last connection are lost.
      if (this.#wasOpen && !this.#lastId) this.reportGap()
      this.#wasOpen = true
      this.#setState('live')
    })
    source.addEventListener('message', ({ data, lastEventId }) => {
      this.#lastId = lastEventId
      this.#addUpdate(data)
    })
    source.addEventListener('gap', ({ lastEventId }) => {
      this.#lastId = lastEventId
      this.reportGap()
    })
    source.addEventListener('error', () => {
      this.#setState('lost')
      // A refusal closes an EventSource. After a lost connection it reconnects itself.
      if (source.readyState !== EventSource.CLOSED) return
      this.#timer = setTimeout(() => this.#open(), this.#retry)
      this.#retry = Math.min(2 * this.#retry, MAX_RETRY_MS)
    })
  }

  #addUpdate(data: string): void {
    const { value } = JSON.parse(data)
    const update: LiveValue = JSON.parse(value)
    this.#pending.set(update.id, update)
    if (this.#isPublishScheduled) return
    this.#isPublishScheduled = true
    // The first value after a pause is published at once.
    setTimeout(
      () => requestAnimationFrame(() => this.#publish()),
      this.#publishedAt + PUBLISH_INTERVAL_MS - performance.now(),
    )
  }

  #publish(): void {
    this.#isPublishScheduled = false
    this.#publishedAt = performance.now()
    const updates = new Map(this.#pending)
    this.#pending.clear()
    for (const listener of this.#listeners) listener.values?.(updates)
  }

  /** Requests that all screens read their values again. */
  reportGap(): void {
    for (const listener of this.#listeners) listener.gap?.()
  }

  #setState(state: StreamState): void {
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
    }, MAX_HIDDEN_MS)
  }
}
