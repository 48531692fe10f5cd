/** What a profile counts. */
export type Kind = 'cpu' | 'allocation'

/** A fixed time in which every thread of a process profiles itself. */
export interface Window {
  readonly kind: Kind
  readonly milliseconds: number
  /** Between two samples: microseconds for `cpu`, bytes for `allocation`. */
  readonly interval: number
  /** Where each thread writes `<kind>-<thread>.json`. */
  readonly folder: string
}

/** The channel on which the threads of a profiled process talk to each other. */
export const CHANNEL = 'influencer-stats-flame'

/** Main to all threads, itself included: profile yourselves now. */
export interface Order {
  readonly order: Window
}

/** A thread to main: it has begun, or its profile is written. */
export interface Progress {
  readonly thread: string
  readonly state: 'begun' | 'written' | 'failed'
}

/** What arrives on the channel; Node's types leave its data out. */
export type Said = Event & { readonly data: Order | Progress }

/** A profiled process to whoever started it: lines of JSON on stderr behind `REPORT`. */
export type Report =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'profiled'; readonly threads: readonly string[] }

export const REPORT = 'flame: '
