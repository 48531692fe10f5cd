import { createHistogram } from 'node:perf_hooks'
import type { Latency } from '../load-plan.ts'

const US_PER_MS = 1000
/** Maximum latency: one hour, which is longer than any run (us). */
const MAX_LATENCY_US = 3_600_000_000

/** A histogram of latencies. Results are in microseconds. Its buckets are 0.1 % wide; `record` takes 0.04 us. */
export class LatencyHistogram {
  readonly #histogram = createHistogram({ lowest: 1, highest: MAX_LATENCY_US, figures: 3 })

  record(milliseconds: number): void {
    this.#histogram.record(Math.min(MAX_LATENCY_US, Math.max(1, Math.round(milliseconds * US_PER_MS))))
  }

  getPercentile(percentile: number): number {
    return this.#histogram.count === 0 ? 0 : this.#histogram.percentile(percentile)
  }

  get mean(): number {
    return this.#histogram.mean
  }

  get max(): number {
    return this.#histogram.count === 0 ? 0 : this.#histogram.max
  }

  toLatency(): Latency {
    const [p50, p75, p90, p99, p999] = [50, 75, 90, 99, 99.9].map((percentile) => this.getPercentile(percentile))
    return { p50: p50!, p75: p75!, p90: p90!, p99: p99!, p999: p999!, max: this.max }
  }
}

/**
 * Counts the requests of a measured window of time. All times are milliseconds of `performance.now()`. A request
 * belongs to the window if it began in the window: if it was due (open loop) or sent (closed loop). Its reply may
 * arrive later.
 */
export class LoadTally {
  readonly times = new LatencyHistogram()
  /** Requests with a reply, requests without one, and wrong replies. */
  requests = 0
  errors = 0
  wrong = 0
  /** Replies that arrived within the window. */
  replies = 0
  readonly from: number
  readonly until: number

  constructor(from: number, until: number) {
    this.from = from
    this.until = until
  }

  recordReply(begin: number, now: number, right: boolean): void {
    if (this.#has(now)) this.replies++
    if (!this.#has(begin)) return
    this.requests++
    this.times.record(now - begin)
    if (!right) this.wrong++
  }

  /** Records that no reply will come: the connection was cut or refused. */
  recordLost(begin: number): void {
    if (this.#has(begin)) this.errors++
  }

  /** Records that no reply came before the end of the run. The percentiles include the waiting time of the request. */
  recordUnanswered(begin: number, now: number): void {
    if (!this.#has(begin)) return
    this.errors++
    this.times.record(now - begin)
  }

  #has(moment: number): boolean {
    return moment >= this.from && moment < this.until
  }
}
