import type { StreamConnection } from '@influencer-stats/runtime/hot-route'

// Time before the expiry of its token at which a stream ends, so that no data is sent after the expiry (ms).
const EXPIRY_MARGIN_MS = 200

// Maximum delay of a timer (ms).
const MAX_TIMER_MS = 2_000_000_000

/** Ends streams whose tokens expire. One timer serves all streams, which are grouped by the second of their expiry. */
export class StreamExpiry {
  readonly #end: (connection: StreamConnection) => void
  readonly #bySecond = new Map<number, Set<StreamConnection>>()
  readonly #expirySeconds = new Map<StreamConnection, number>()
  /** Second for which the timer is set. */
  #next = Infinity
  #timer: NodeJS.Timeout | undefined

  constructor(end: (connection: StreamConnection) => void) {
    this.#end = end
  }

  /** @param at expiry of the stream's token (ms since 1970) */
  add(connection: StreamConnection, at: number): void {
    const second = Math.floor(at / 1_000)
    const connections = this.#bySecond.get(second)
    if (connections) connections.add(connection)
    else this.#bySecond.set(second, new Set([connection]))
    this.#expirySeconds.set(connection, second)
    if (second < this.#next) this.#waitFor(second)
  }

  delete(connection: StreamConnection): void {
    const second = this.#expirySeconds.get(connection)
    if (second === undefined) return
    this.#expirySeconds.delete(connection)
    const connections = this.#bySecond.get(second)!
    connections.delete(connection)
    if (connections.size === 0) this.#bySecond.delete(second)
  }

  /** Idempotent. */
  close(): void {
    clearTimeout(this.#timer)
    this.#next = -Infinity
  }

  #waitFor(second: number): void {
    clearTimeout(this.#timer)
    this.#next = second
    if (second === Infinity) return
    const wait = Math.min(Math.max(0, second * 1_000 - EXPIRY_MARGIN_MS - Date.now()), MAX_TIMER_MS)
    this.#timer = setTimeout(() => this.#sweep(), wait).unref()
  }

  #sweep(): void {
    const now = Date.now() + EXPIRY_MARGIN_MS
    for (const [second, connections] of this.#bySecond) {
      if (second * 1_000 > now) continue
      for (const connection of connections) {
        this.delete(connection)
        this.#end(connection)
      }
    }
    this.#waitFor(Math.min(Infinity, ...this.#bySecond.keys()))
  }
}
