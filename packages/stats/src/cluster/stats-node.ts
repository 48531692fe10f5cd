import type { BackupSource } from '@influencer-stats/runtime/backup-source'
import type { UpstreamOutage } from '../core/upstream-state.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import type { FetchedVideos, ForwardedLookup, LookupReply } from '../state/stats-change.ts'
import type { StatsState } from '../state/stats-state.ts'
import type { PollingControl } from './follower.ts'
import type { NodeState } from './node-state.ts'

/** A node of a cluster, on its main thread. */
export interface StatsNode {
  readonly state: StatsState
  readonly backupSource: BackupSource
  /** Memory of the state of the log, for the threads. */
  readonly logState: SharedArrayBuffer
  /** Returns the origin of the cluster's numbers; the source of this node until the cluster has one. */
  source(): string
  getState(): NodeState
  /**
   * Requests the first numbers of a collection from the polling node.
   * @throws Problem `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`
   */
  requestRead(id: string): Promise<void>
  /**
   * Sends a look-up to the polling node.
   * @throws Problem `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`
   */
  sendLookup(lookup: ForwardedLookup): Promise<void>
  /** Publishes the reply to a look-up of another node. */
  publishLookup(reply: LookupReply): void
  /** Publishes the result of a call to YouTube, to all nodes. */
  publishFetched(fetched: FetchedVideos): void
  /** Publishes that these videos have no numbers because a call failed; without videos, the outage of all calls. */
  publishFailure(ids: readonly string[], detail: string, outage?: UpstreamOutage): void
  /**
   * Persists the count of used units for all nodes.
   * @throws Problem `UPSTREAM_UNAVAILABLE` if the log does not accept the count, or if this node is no longer the poller;
   * the unit of the call is then refunded
   */
  saveUsage(meter: QuotaMeter): Promise<void>
  /** Begins to pass the changes of the log to the poller, and to poll YouTube while this node holds the lease. */
  join(polling: PollingControl): void
  /** Resolves once every thread of this node has all earlier changes. */
  waitUntilPublished(): Promise<void>
  /** Closes the log without waiting for its reply: writes in progress fail. */
  abort(): void
}
