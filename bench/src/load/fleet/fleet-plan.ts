import type { LoadRequest } from '../load-plan.ts'

/** The protocol of a broadcast server: its requests, and the form of values in its events. */
export interface Dialect {
  /** Request that opens a stream. `{cid}` in its path is replaced by the number of the stream. */
  readonly wait: LoadRequest
  /** Request that sends a value. `{value}` is replaced by the value, and `{topic}` by a number below `topics`. */
  readonly put: LoadRequest
  /** Request that ends all streams. */
  readonly closeAll: LoadRequest
  /** Number of topics, to which values go in turn. */
  readonly topics?: number
  /** True if the reply to a value is that value; otherwise any body is valid. */
  readonly echoes: boolean
  /** Text before and after a value in its `data` line: quotes if values are sent as JSON. */
  readonly around: readonly [before: string, after: string]
  /** True if the server sends an event at the opening and at the end of a stream. */
  readonly greets?: boolean
  /** True if the server has no common order of concurrent values. Other orders are reported, but are no failure. */
  readonly isUnordered?: boolean
}

/** The dialect of sse, and of the source that sse reimplements. */
export const DEFAULT_DIALECT: Dialect = {
  wait: { method: 'GET', path: '/wait?cid={cid}' },
  put: { method: 'GET', path: '/put?v={value}' },
  closeAll: { method: 'GET', path: '/closeall' },
  echoes: true,
  around: ['', ''],
}

/** Sends a value every `interval` ms, regardless of earlier replies. Latencies count from its due time. */
export interface PacedSending {
  readonly values: number
  readonly interval: number
}

/** Each publisher sends as soon as it has its last reply, to measure the capacity. The warm-up is not timed. */
export interface SaturationSending {
  /** Measured seconds, and the seconds of the warm-up before them. */
  readonly seconds: number
  readonly warmUp: number
}

/** A run that opens streams, sends values to all of them, and ends them. */
export interface FleetPlan {
  /** Scheme, host and port. */
  readonly url: string
  /** The server's process, whose memory and processor time are measured. */
  readonly pid: number
  readonly dialect: Dialect
  readonly streams: number
  /** Interval between the openings of two streams (ms); 0 for as fast as possible. */
  readonly spacing: number
  readonly sending: PacedSending | SaturationSending
  /** Number of connections that send values, with one outstanding request each. */
  readonly publishers: number
}

/** A run that repeatedly opens streams and ends them. */
export interface ConnectingPlan extends Pick<FleetPlan, 'url' | 'dialect' | 'streams' | 'spacing'> {
  /** Seconds after which no further repetition begins. */
  readonly duration: number
}

/** Seconds without progress after which a fleet does not wait any longer for streams to open, receive or end. */
export const PROGRESS_TIMEOUT_S = 4
/** Time after which a value without a reply counts as rejected (ms), as in the measurements of the source. */
export const REJECTION_TIMEOUT_MS = 1000
