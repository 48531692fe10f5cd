/** One request as it is sent, again and again. */
export interface LoadRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Requests that are hardly ever the same: each is drawn when it is sent, by a drawer of `drawers.ts`. */
export interface DrawnRequests {
  readonly drawer: string
  /** Beside those that the drawer gives. */
  readonly headers?: Readonly<Record<string, string>>
  /** The same ones for the same seed; without one, each run draws others. */
  readonly seed?: number
}

/** What a reply must be; any other makes the run no result. */
export interface Expectation {
  readonly status: number
  /** The whole body, where it is always the same. */
  readonly body?: string
  /** A part that every body has. */
  readonly includes?: string
}

/** What to send, where, how hard, and for how long. */
export interface LoadPlan {
  /** Scheme, host and port. */
  readonly url: string
  /** Of others that serve the same: connections are spread over all of them. */
  readonly others?: readonly string[]
  /** Sent in turn, or drawn. */
  readonly requests: readonly LoadRequest[] | DrawnRequests
  readonly expect: Expectation
  readonly connections: number
  /** Seconds that are measured. */
  readonly duration: number
  /** Seconds before, not measured. */
  readonly warmUp: number
  /** Requests a second at a constant pace (open loop). Absent: each connection sends when it has its reply (closed). */
  readonly rate?: number
  /**
   * Shares its processors with what is measured, as if on another machine: it sleeps until a request is due in place of
   * looking at the clock, and has a turn of its own among others. `first` goes ahead of all, where it may (root, `chrt`).
   */
  readonly shares?: 'fair' | 'first'
  /**
   * Requests that each connection of a closed loop sends at once, before any of their replies; the latency of each counts
   * from then.
   */
  readonly pipeline?: number
  /** Percentiles wanted beside those that every result has. */
  readonly percentiles?: readonly number[]
}

/** How long requests took, in microseconds; in an open loop from when they should have been sent. */
export interface Latency {
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** What came of a plan. */
export interface LoadResult {
  /** Requests begun in the measured seconds that got a reply, right or wrong; the last replies may come after. */
  readonly requests: number
  /** Seconds measured. */
  readonly seconds: number
  /** Replies within the measured seconds, a second. Below `rate`: the server (or the generator) could not keep up. */
  readonly perSecond: number
  readonly latency: Latency
  /** The percentiles that the plan wants beside (us), by their names. */
  readonly percentiles?: Readonly<Record<string, number>>
  /** Requests that got no reply: refused, cut, timed out. */
  readonly errors: number
  /** Replies that were not as expected. */
  readonly wrong: number
  /**
   * Share of one processor that the generator took, 1 is all of it. An open loop over some 500 requests a second takes
   * all of it to be on time: there `lateness` tells whether it was enough.
   */
  readonly cpu: number
  /**
   * Open loop: how late the generator was to see that requests were due (us, p99). This is its own part of the latencies;
   * where it is no longer small against them, the generator was too slow for the rate.
   */
  readonly lateness?: number
  /**
   * Open loop that looks at the clock all the time: the share of the measured seconds in which the generator had nothing
   * to do. Near 0 it had no time for more requests, whatever the server could do.
   */
  readonly idle?: number | undefined
}

/** From this share of a processor on, a generator may have been what limited a closed loop. */
export const SATURATED_SHARE = 0.9
