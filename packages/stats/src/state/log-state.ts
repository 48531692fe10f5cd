import { errors as logErrors } from '@influencer-stats/log/errors'
import type { Lease, Log } from '@influencer-stats/log/log'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { hasSource } from '../core/record-kinds.ts'
import { createLevelReads } from './level-reads.ts'
import { CHANGE_KIND, toEntryBody, type StatsChange } from './stats-change.ts'
import { ConflictError, type StatsState } from './stats-state.ts'

export interface LogStateOptions {
  readonly log: Pick<Log, 'append' | 'barrier'>
  /** Lease of the poller. */
  readonly lease: Pick<Lease, 'append' | 'term'>
  /** Origin of this node's numbers. Absent in a standalone service, whose numbers have the source of the log. */
  readonly source?: string
  /** Database of this process, built from the log. */
  readonly level: SharedLevel
  close(): Promise<void>
}

/**
 * State that reads from the database of this process and writes to a log. In a cluster every node may change collections.
 * Only the poller writes other data. Such writes of a node that is no longer the poller are dropped, without an error
 * except from `putUsage`.
 * @throws Problem `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` from all writes; `ConflictError`, or the fault of the database,
 * from changes of collections; `LEASE_LOST` from `putUsage`, possibly after the usage was stored
 */
export function createLogState({ log, lease, source, level, close }: LogStateOptions): StatsState {
  const from = source === undefined ? {} : { from: source }

  async function appendChange(one: StatsChange): Promise<void> {
    const fault = level.getFault()
    if (fault) throw fault
    const { outcome } = await log.append<boolean>(CHANGE_KIND, toEntryBody(one))
    if (!outcome) throw new ConflictError()
  }

  async function appendUnderLease(one: StatsChange): Promise<void> {
    try {
      await lease.append(CHANGE_KIND, toEntryBody(one))
    } catch (fault) {
      if ((fault as Partial<Problem>).code !== logErrors.LEASE_LOST.code) throw fault
    }
  }

  return {
    ...createLevelReads(level),
    catchUp: async () => void (await log.barrier()),
    put: (collection, before) => appendChange({ type: 'put', collection, ...toRevisionCondition(before) }),
    delete: (id, before, trashed) =>
      appendChange({
        type: 'delete',
        id,
        ...toRevisionCondition(before),
        ...(trashed && { trashed: trashed.revision }),
      }),
    trash: (collection, { revision: before }) => appendChange({ type: 'trash', collection, before }),
    restore: (collection, { revision: trashed }) => appendChange({ type: 'restore', collection, trashed }),
    putRecords: (rows) =>
      rows.some(({ kind }) => hasSource(kind))
        ? appendUnderLease({ type: 'records', rows, ...from })
        : appendChange({ type: 'records', rows }),
    importLines: (lines) => appendChange({ type: 'import', lines }),
    putSnapshots: (rows) => appendUnderLease({ type: 'snapshots', rows, ...from }),
    putVideos: (rows) => appendUnderLease({ type: 'videos', rows, ...from }),
    deleteVideos: (ids) => appendUnderLease({ type: 'deleteVideos', ids, ...from }),
    deletePoints: (id, times) => appendUnderLease({ type: 'deletePoints', id, times, ...from }),
    async putUsage(usage) {
      await lease.append(CHANGE_KIND, toEntryBody({ type: 'usage', usage }))
      // The call that this usage pays for may begin only while this node holds the lease.
      if (lease.term === undefined) throw logErrors.LEASE_LOST()
    },
    close,
  }
}

const toRevisionCondition = (before: { readonly revision: number } | undefined) => before && { before: before.revision }
