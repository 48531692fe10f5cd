import { errors as logErrors } from '@influencer-stats/log/errors'
import type { Lease, Log } from '@influencer-stats/log/log'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { CHANGE, encodeChange, type Change } from './change.ts'
import { levelStateOf } from './level.ts'
import { OvertakenError, type State } from './state.ts'

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
export function createLogState({ log, lease, source: from, level, close }: LogStateOptions): State {
  async function change(one: Change): Promise<void> {
    const fault = level.getFault()
    if (fault) throw fault
    const { outcome } = await log.append<boolean>(CHANGE, encodeChange(one))
    if (!outcome) throw new OvertakenError()
  }

  async function keep(one: Change): Promise<void> {
    try {
      await lease.append(CHANGE, encodeChange(one))
    } catch (fault) {
      if ((fault as Partial<Problem>).code !== logErrors.LEASE_LOST.code) throw fault
    }
  }

  // The log decides which source is the current one.
  const { useSource: _, ...reads } = levelStateOf(level)
  return {
    ...reads,
    catchUp: async () => void (await log.barrier()),
    put: (collection, before) => change({ type: 'put', collection, ...revisionOf(before) }),
    delete: (id, before) => change({ type: 'delete', id, ...revisionOf(before) }),
    putSnapshots: (rows) => keep({ type: 'snapshots', rows, from }),
    putVideos: (rows) => keep({ type: 'videos', rows, from }),
    deleteVideos: (ids) => keep({ type: 'deleteVideos', ids, from }),
    deletePoints: (id, times) => keep({ type: 'deletePoints', id, times, from }),
    async putUsage(usage) {
      await lease.append(CHANGE, encodeChange({ type: 'usage', usage }))
      // What it pays for may begin only now.
      if (lease.term === undefined) throw logErrors.LEASE_LOST()
    },
    close,
  }
}

const revisionOf = (before: { readonly revision: number } | undefined) => before && { before: before.revision }
