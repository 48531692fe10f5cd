/** One request, which is sent repeatedly. */
export interface LoadRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Random requests: a drawer of `drawers.ts` draws each when it is sent. */
export interface DrawnRequests {
  readonly drawer: string
  /** In addition to those of the drawer. */
  readonly headers?: Readonly<Record<string, string>>
  /** The same seed gives the same requests; without a seed each run draws others. */
  readonly seed?: number
}

/** The expected reply; any other reply invalidates the run. */
export interface Expectation {
  readonly status: number
  /** The whole body, if it is constant. */
  readonly body?: string
  /** A part of every body. */
  readonly includes?: string
}

/** Requests, address, load and duration of a run. */
export interface LoadPlan {
  /** Scheme, host and port. */
  readonly url: string
  /** Addresses of other processes that serve the same: connections are spread over all of them. */
  readonly others?: readonly string[]
  /** Sent in turn, or drawn. */
  readonly requests: readonly LoadRequest[] | DrawnRequests
  readonly expect: Expectation
  readonly connections: number
  /** Measured seconds. */
  readonly duration: number
  /** Unmeasured seconds before them. */
  readonly warmUp: number
  /**
   * Requests per second at a constant rate (open loop). Absent: each connection sends after its reply (closed loop).
   */
  readonly rate?: number
  /**
   * Shares its processors with the measured server, as if on another machine: it sleeps until a request is due instead
   * of polling the clock, and runs in its own session. `first` gets real-time priority where permitted (root, `chrt`).
   */
  readonly shares?: 'fair' | 'first'
  /**
   * Requests that each connection of a closed loop sends at once, before any of their replies. The latency of each
   * counts from that time.
   */
  readonly pipeline?: number
  /** Percentiles in addition to those of every result. */
  readonly percentiles?: readonly number[]
}

/** Latencies in microseconds. In an open loop they count from the time at which requests were due. */
export interface Latency {
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** Result of a plan. */
export interface LoadResult {
  /** Requests that began in the measured seconds and got a reply, right or wrong; it may arrive after those seconds. */
  readonly requests: number
  /** Measured seconds. */
  readonly seconds: number
  /** Replies per second within the measured seconds. Below `rate` if the server (or the generator) is too slow. */
  readonly perSecond: number
  readonly latency: Latency
  /** The additional percentiles of the plan (us), by name. */
  readonly percentiles?: Readonly<Record<string, number>>
  /** Requests without a reply: refused, cut, timed out. */
  readonly errors: number
  /** Replies that differ from the expected one. */
  readonly wrong: number
  /**
   * Share of one processor that the generator used; 1 is all of it. An open loop over some 500 requests a second uses
   * all of it to be on time: there `lateness` shows if it was enough.
   */
  readonly cpu: number
  /**
   * Open loop: delay with which the generator noticed that requests were due (us, p99). It is part of the latencies. If
   * it is no longer small against them, the generator was too slow for the rate.
   */
  readonly lateness?: number
  /**
   * Open loop that polls the clock: the share of the measured seconds in which the generator was idle. Near 0 it had no
   * time for more requests, regardless of the server.
   */
  readonly idle?: number | undefined
}

/** From this share of a processor on, the generator may have limited a closed loop. */
export const SATURATED_SHARE = 0.9
