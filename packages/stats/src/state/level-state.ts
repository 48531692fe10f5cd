import { openLocalLog } from '@influencer-stats/log/local-log'
import { openStatsLevel, type StatsLevelOptions } from './level-database.ts'
import { createLogState } from './log-state.ts'
import { openStatsStateMachine } from './machine/stats-state-machine.ts'
import { CHANGE_KIND, toEntryBody } from './stats-change.ts'
import type { StatsState } from './stats-state.ts'

/**
 * State in a LevelDB database in `folder`. One process at a time may open it. All its threads share one handle, and the
 * thread that opens first must close last. The owner's changes pass through a local log to the same state machine as those
 * of a cluster node.
 * @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER`
 */
export async function createLevelState(options: Omit<StatsLevelOptions, 'isReplica'>): Promise<StatsState> {
  const level = await openStatsLevel(options)
  const stateMachine = await openStatsStateMachine({ level, isReplica: false })
  const log = openLocalLog({ stateMachine })
  const { catchUp: _, ...state } = createLogState({
    log,
    lease: log.openLease(Infinity),
    level,
    async close() {
      await log.close()
      await level.close()
    },
  })
  return {
    ...state,
    async useSource(source) {
      const before = state.getSource!()
      if (before !== source) await log.append(CHANGE_KIND, toEntryBody({ type: 'source', source, before }))
    },
  }
}
