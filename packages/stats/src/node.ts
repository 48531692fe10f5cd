import { closeLevel } from '@influencer-stats/log/level-view'
import { openNode as openLog } from '@influencer-stats/log/node'
import { silenceOf, viewFolder } from '@influencer-stats/log/log-state'
import { StartError } from '@influencer-stats/runtime/errors'
import type { OpenContext } from '@influencer-stats/runtime/service'
import { errors } from './errors.ts'
import { Follower, type Polling } from './follower.ts'
import { reportPolling } from './gauges.ts'
import type { ToThread } from './messages.ts'
import type { NodeState } from './node-state.ts'
import type { QuotaMeter } from './quota-meter.ts'
import type { StatsConfig } from './settings.ts'
import { CHANGE, encodeChange, type Asked, type Change } from './state/change.ts'
import { openStatsLevel } from './state/level.ts'
import { createLogState } from './state/log.ts'
import { openLogView } from './state/log-view.ts'
import type { State } from './state/state.ts'

type Context = OpenContext<StatsConfig, ToThread>

/** Numbers of many collections are kept at once (bytes): see `SnapshotWriter`. */
const LARGEST_CHANGE = 4_194_304

/** One node of many, as main has it. */
export interface Node {
  readonly state: State
  now(): NodeState
  /** Somebody waits for a collection's first numbers, which another node is to ask for. @throws LOG_UNAVAILABLE, OUTCOME_UNKNOWN */
  want(id: string): Promise<void>
  /** Tells all nodes what a call has given, */
  asked(asked: Asked): void
  /** or that first numbers of these videos could not be had. */
  failed(ids: readonly string[], detail: string): void
  /** Keeps the count of units used for all nodes. @throws Problem `UPSTREAM_UNAVAILABLE` where this one may use none */
  saveUsage(meter: QuotaMeter): Promise<void>
  /** Hands on what the log says from now on, and takes part in who polls. */
  join(polling: Polling): void
  /** Resolves once every thread has what was changed so far. */
  told(): Promise<void>
  /** What waits for the log is given up. */
  giveUp(): void
}

/**
 * Opens what makes this process one node of many: the log, and the base that it makes of it. It ends with its state.
 * @throws StartError
 */
export async function openNode({ config, registry, log, fail }: Context): Promise<Node> {
  if (config.state !== 'level' || config.cache !== 'poller')
    throw new StartError(
      'SETTINGS_WRONG',
      'stats: --log jetstream keeps what it has in the state level, and needs the cache poller',
    )
  const level = await openStatsLevel({ folder: viewFolder(config.data), log, isReplica: true })
  const follower = new Follower()
  try {
    const view = await openLogView({ level, onChanges: (changes) => follower.take(changes) })
    const journal = await openLog({ service: 'stats', config, registry, log, fail, view, maxBody: LARGEST_CHANGE })
    const lease = journal.lease(config.pollerLease)
    follower.listen(lease)

    async function close(): Promise<void> {
      await journal.close()
      await follower.ended()
      await closeLevel(view, level, log, 'stats')
    }
    let closed: Promise<void> | undefined
    const state = createLogState({ log: journal, lease, level, close: () => (closed ??= close()) })

    function now(): NodeState {
      const { state } = journal
      const { applied, known } = state
      return { polling: lease.term !== undefined, applied, lag: known - applied, silence: silenceOf(state) }
    }
    reportPolling(() => now().polling, registry)

    /** Where that is lost, others know it later. */
    function tell(change: Change): void {
      lease.append(CHANGE, encodeChange(change)).catch(() => {})
    }
    return {
      state,
      now,
      want: async (id) => void (await journal.append(CHANGE, encodeChange({ type: 'wanted', id }))),
      asked: (asked) => tell({ type: 'asked', ...asked }),
      failed: (ids, detail) => tell({ type: 'failed', ids, detail }),
      async saveUsage(meter) {
        try {
          await state.putUsage(meter.toUsage())
        } catch (cause) {
          meter.giveBack()
          throw errors.UPSTREAM_UNAVAILABLE('the quota of all nodes cannot be counted at present', { cause })
        }
      },
      join: (polling) => follower.join(polling),
      told: () => follower.told(),
      giveUp: () => void journal.close(),
    }
  } catch (error) {
    await level.close()
    throw error
  }
}
