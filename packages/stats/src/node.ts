import { closeLevel } from '@influencer-stats/log/level-state-machine'
import { openClusterLog as openLog } from '@influencer-stats/log/cluster-log'
import { getStalenessSeconds, toReplicaFolder } from '@influencer-stats/log/log-state'
import { createBackOff } from '@influencer-stats/runtime/back-off'
import { StartError } from '@influencer-stats/runtime/errors'
import type { OpenContext } from '@influencer-stats/runtime/service'
import { setTimeout as delay } from 'node:timers/promises'
import { errors } from './errors.ts'
import { currentSource, mayReplace, STAND_IN } from './core/sources.ts'
import { Follower, type Polling } from './follower.ts'
import { reportPolling, reportSourceMismatch } from './gauges.ts'
import type { ToThread } from './messages.ts'
import type { NodeState } from './node-state.ts'
import type { QuotaMeter } from './quota-meter.ts'
import type { UpstreamOutage } from './core/upstream-state.ts'
import { createPollerLease } from './poller-lease.ts'
import { originOf, sourceOf, type StatsConfig } from './settings.ts'
import { CHANGE, encodeChange, type Asked, type Change } from './state/change.ts'
import { openStatsLevel, sourcesIn } from './state/level.ts'
import { createLogState } from './state/log.ts'
import { openLogView } from './state/log-view.ts'
import type { State } from './state/state.ts'

type Context = OpenContext<StatsConfig, ToThread>

/** Numbers of many collections are kept at once (bytes): see `SnapshotWriter`. */
const LARGEST_CHANGE = 4_194_304

/** One node of many, as main has it. */
export interface Node {
  readonly state: State
  /** Returns the origin of the cluster's numbers. */
  source(): string
  now(): NodeState
  /** Somebody waits for a collection's first numbers, which another node is to ask for. @throws LOG_UNAVAILABLE, OUTCOME_UNKNOWN */
  want(id: string): Promise<void>
  /** Tells all nodes what a call has given, */
  asked(asked: Asked): void
  /** or that first numbers of these videos could not be had. */
  failed(ids: readonly string[], detail: string, outage?: UpstreamOutage): void
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
  const level = await openStatsLevel({ folder: toReplicaFolder(config.data), log, isReplica: true })
  const follower = new Follower()
  const own = sourceOf(config)
  const source = () => currentSource(sourcesIn(level.db))
  /** Returns both sources if this node's own differs from the cluster's. */
  function sourceMismatch(theirs = source()): NodeState['sourceMismatch'] {
    return theirs === undefined || theirs === own ? undefined : { node: own, log: theirs }
  }
  const closing = new AbortController()
  try {
    const view = await openLogView({
      level,
      onChanges(changes) {
        if (changes.some(({ type }) => type === 'source')) checkSource()
        follower.take(changes)
      },
    })
    const journal = await openLog({
      service: 'stats',
      config,
      registry,
      log,
      fail,
      stateMachine: view,
      maxBody: LARGEST_CHANGE,
    })
    const lease = createPollerLease(() => journal.openLease(config.pollerLeaseTtl))
    follower.listen(lease)

    /** Lets this node poll only if its source is the cluster's. */
    function checkSource(): void {
      const theirs = source()
      lease.setAllowed(theirs === own)
      const mismatch = sourceMismatch(theirs)
      if (mismatch) log.error(mismatchLine(mismatch))
    }

    /** Makes the source of this node the cluster's if that is allowed. @throws Problem `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` */
    async function claimSource(): Promise<void> {
      for (let before; mayReplace((before = source()), own, originOf(config.replaceSource));)
        await journal.append(CHANGE, encodeChange({ type: 'source', source: own, before }))
    }

    async function claimSourceLater(): Promise<void> {
      const delays = createBackOff()
      while (!closing.signal.aborted) {
        await delay(delays.next(), undefined, { signal: closing.signal }).catch(() => {})
        const isDone = await claimSource().then(
          () => true,
          () => false,
        )
        if (isDone) return
      }
    }

    await claimSource().catch((fault: unknown) => {
      log.warn({ err: fault }, 'stats: the log has not taken the source of this node yet, which polls only then')
      void claimSourceLater()
    })
    checkSource()

    async function close(): Promise<void> {
      closing.abort()
      const ended = lease.close()
      await journal.close()
      await ended
      await follower.ended()
      await closeLevel(view, level, log, 'stats')
    }
    let closed: Promise<void> | undefined
    const state = createLogState({ log: journal, lease, source: own, level, close: () => (closed ??= close()) })

    function now(): NodeState {
      const { state } = journal
      const { applied, known } = state
      const theirs = source()
      const mismatch = sourceMismatch(theirs)
      return {
        polling: lease.term !== undefined,
        ...(theirs !== undefined && { source: theirs }),
        ...(mismatch && { sourceMismatch: mismatch }),
        applied,
        lag: known - applied,
        silence: getStalenessSeconds(state),
      }
    }
    reportPolling(() => now().polling, registry)
    reportSourceMismatch(() => sourceMismatch() !== undefined, registry)

    /** Where that is lost, others know it later. */
    function tell(change: Change): void {
      lease.append(CHANGE, encodeChange(change)).catch(() => {})
    }
    return {
      state,
      source: () => source() ?? own,
      now,
      want: async (id) => void (await journal.append(CHANGE, encodeChange({ type: 'wanted', id }))),
      asked: (asked) => tell({ type: 'asked', ...asked, from: own }),
      failed: (ids, detail, outage) => tell({ type: 'failed', ids, detail, from: own, ...(outage && { outage }) }),
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

const mismatchLine = ({ node, log }: NonNullable<NodeState['sourceMismatch']>) =>
  `stats: this node never asks YouTube: its source is ${node}, and the cluster's numbers come from ${log}. ` +
  `Set YOUTUBE_URI as on the other nodes${node === STAND_IN ? '' : `, or start this one with --replace-source ${log}`}`
