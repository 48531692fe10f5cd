import type { Budget } from '@influencer-stats/runtime/budget'
import type { CreateFanout } from '../fanout/fanout.ts'
import type { History } from '../history/history.ts'

export interface HubOptions {
  readonly history: History
  /** Memory budget of the unread bytes of all streams. */
  readonly budget: Budget
  /** True if each connection copies the bytes that it sends, as TLS does. */
  readonly isCopied: boolean
  /**
   * Minimum reconnection time of clients (ms). Each stream gets a random time up to twice this one, so that clients do
   * not all reconnect at once.
   */
  readonly retry: number
  /** Creates the fan-out, which decides when values are written to streams. */
  readonly createFanout: CreateFanout
  /** Maximum unread bytes of a client. */
  readonly streamBuffer: number
  /** Time after which a client that reads nothing of its replay is disconnected (ms). */
  readonly sendTimeout: number
}
