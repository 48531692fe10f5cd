/** The origin of the numbers: YouTube or its stand-in. */
export type DataSource = 'youtube' | 'stand-in'

/** The status of a service. */
export interface ServiceStatus {
  readonly name: string
  /** `not-ready`: the service replies that it is not ready. */
  readonly state: 'ok' | 'not-ready' | 'unavailable'
  /** Reason why it is not ready: its phase, such as `draining`, or an error code. */
  readonly detail?: string
}

/** The data from which a page decides if its numbers are live: the reply of `GET /status`. */
export interface SystemStatus<Upstream = Readonly<Record<string, unknown>>> {
  /** Time of the observation (ISO 8601). */
  readonly at: string
  readonly services: readonly ServiceStatus[]
  readonly source?: DataSource
  /** The reply of `GET /upstream` of stats. Absent if it is unknown. */
  readonly upstream?: Upstream
}
