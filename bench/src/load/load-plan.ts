/** One request, which is sent repeatedly. */
export interface LoadRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Random requests. A drawer (`drawers.ts`) creates each request when it is sent. */
export interface DrawnRequests {
  /** Name of the drawer. */
  readonly drawer: string
  /** Headers in addition to those of the drawer. */
  readonly headers?: Readonly<Record<string, string>>
  /** The same seed gives the same requests. Without a seed, each run has other requests. */
  readonly seed?: number
}

/** The expected reply; any other reply invalidates the run. */
export interface Expectation {
  readonly status: number
  /** The whole body, if it is constant. */
  readonly body?: string
  /** Text that every body contains. */
  readonly includes?: string
}

/** Requests, address, load and duration of a run. */
export interface LoadPlan {
  /** Scheme, host and port. */
  readonly url: string
  /** URLs of further processes of the target. The connections are spread over all of them. */
  readonly others?: readonly string[]
  /** Constant requests, which are sent in turn; or random requests. */
  readonly requests: readonly LoadRequest[] | DrawnRequests
  readonly expect: Expectation
  readonly connections: number
  /** Measured seconds. */
  readonly duration: number
  /** Unmeasured seconds before `duration`. */
  readonly warmUp: number
  /** Requests per second (open loop). Without it, each connection sends after its last reply (closed loop). */
  readonly rate?: number
  /**
   * If given, the generator uses the same processors as the measured server. It sleeps until a request is due instead
   * of polling the clock. `fair`: server and generator get equal shares. `first`: the generator has real-time priority,
   * if permitted (root, `chrt`).
   */
  readonly shares?: 'fair' | 'first'
  /** Requests that each connection of a closed loop sends at once. All latencies count from that time. */
  readonly pipeline?: number
  /** Percentiles in addition to those of `Latency`. */
  readonly percentiles?: readonly number[]
}

/** Percentiles of latencies (us). In an open loop a latency counts from the due time of its request. */
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
  /** Number of requests that began in the measured seconds and got a reply, right or wrong, in these seconds or later. */
  readonly requests: number
  /** Measured seconds. */
  readonly seconds: number
  /** Replies per second within the measured seconds. It is below `rate` if the server or the generator is too slow. */
  readonly perSecond: number
  readonly latency: Latency
  /** The additional percentiles of the plan (us), by name. */
  readonly percentiles?: Readonly<Record<string, number>>
  /** Number of requests without a reply: refused, cut or too late. */
  readonly errors: number
  /** Number of replies that differ from the expected one. */
  readonly wrong: number
  /**
   * Share of one processor that the generator used (0 to 1). An open loop with more than about 500 requests per second
   * uses a whole processor to be on time. `lateness` then shows if that was enough.
   */
  readonly cpu: number
  /**
   * For an open loop: delay with which the generator noticed that requests were due (us, p99). The latencies include
   * it. If it is not much smaller than the latencies, the generator was too slow for the rate.
   */
  readonly lateness?: number
  /**
   * For an open loop that polls the clock: the share of the measured seconds in which the generator was idle. If it is
   * near 0, the generator could not send more requests, regardless of the server.
   */
  readonly idle?: number | undefined
}

/** Minimum processor share of a generator that may have limited a closed loop. */
export const SATURATED_SHARE = 0.9
