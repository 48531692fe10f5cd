import { errors as logErrors } from '@influencer-stats/log/errors'
import type { Lease, Log } from '@influencer-stats/log/log'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { CHANGE_KIND, encodeChange, type StatsChange } from './stats-change.ts'
import { toLevelState } from './level-state.ts'
import { ConflictError, type StatsState } from './stats-state.ts'

export interface LogStateOptions {
  readonly log: Pick<Log, 'append' | 'barrier'>
  /** Lease of the poller. */
  readonly lease: Pick<Lease, 'append' | 'term'>
  /** Origin of this node's numbers. */
  readonly source: string
  /** Database of this node, built from the log. */
  readonly level: SharedLevel
  close(): Promise<void>
}

/**
 * State of a cluster node. It reads from this node's database and writes to the log. Every node may change collections.
 * Only the poller writes other data. Such writes of a node that is no longer the poller are dropped, without an error
 * except from `putUsage`.
 * @throws Problem `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` from all writes; `ConflictError`, or the fault of the database,
 * from `put` and `delete`; `LEASE_LOST` from `putUsage`, possibly after the usage was stored
 */
export function createLogState({ log, lease, source: from, level, close }: LogStateOptions): StatsState {
  async function appendChange(one: StatsChange): Promise<void> {
    const fault = level.getFault()
    if (fault) throw fault
    const { outcome } = await log.append<boolean>(CHANGE_KIND, encodeChange(one))
    if (!outcome) throw new ConflictError()
  }

  async function appendUnderLease(one: StatsChange): Promise<void> {
    try {
      await lease.append(CHANGE_KIND, encodeChange(one))
    } catch (fault) {
      if ((fault as Partial<Problem>).code !== logErrors.LEASE_LOST.code) throw fault
    }
  }

  // The log decides which source is the current one.
  const { useSource: _, ...reads } = toLevelState(level)
  return {
    ...reads,
    catchUp: async () => void (await log.barrier()),
    put: (collection, before) => appendChange({ type: 'put', collection, ...toRevisionCondition(before) }),
    delete: (id, before) => appendChange({ type: 'delete', id, ...toRevisionCondition(before) }),
    putSnapshots: (rows) => appendUnderLease({ type: 'snapshots', rows, from }),
    putVideos: (rows) => appendUnderLease({ type: 'videos', rows, from }),
    deleteVideos: (ids) => appendUnderLease({ type: 'deleteVideos', ids, from }),
    deletePoints: (id, times) => appendUnderLease({ type: 'deletePoints', id, times, from }),
    async putUsage(usage) {
      await lease.append(CHANGE_KIND, encodeChange({ type: 'usage', usage }))
      // The call that this usage pays for may begin only while this node holds the lease.
      if (lease.term === undefined) throw logErrors.LEASE_LOST()
    },
    close,
  }
}

const toRevisionCondition = (before: { readonly revision: number } | undefined) => before && { before: before.revision }
