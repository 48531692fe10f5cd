import { errors as logErrors } from '@influencer-stats/log/errors'
import type { Lease, Log } from '@influencer-stats/log/log'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { CHANGE_KIND, encodeChange, type StatsChange } from './stats-change.ts'
import { toLevelState } from './level-state.ts'
import { ConflictError, type StatsState } from './stats-state.ts'

export interface LogStateOptions {
  readonly log: Pick<Log, 'append' | 'barrier'>
  /** Who has it is the poller. */
  readonly lease: Pick<Lease, 'append' | 'term'>
  /** Where this node's numbers come from. */
  readonly source: string
  /** What this node makes of the log. */
  readonly level: SharedLevel
  close(): Promise<void>
}

/**
 * The state of a node of many: reads are of this node's base, and changes go into the log. Collections are any node's to
 * change. All else is the poller's: what one keeps that is the poller no more counts nowhere, and it need not know.
 * @throws Problem `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` from what writes; `OvertakenError` from `put` and `delete`;
 *   `LEASE_LOST` from `putUsage`
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
      // What it pays for may begin only now.
      if (lease.term === undefined) throw logErrors.LEASE_LOST()
    },
    close,
  }
}

const toRevisionCondition = (before: { readonly revision: number } | undefined) => before && { before: before.revision }
