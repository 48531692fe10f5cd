import { closeLevel } from '@influencer-stats/log/level-state-machine'
import { openClusterLog as openLog } from '@influencer-stats/log/cluster-log'
import { createLogStateMemory, toReplicaFolder } from '@influencer-stats/log/log-state'
import { createBackOff, pause, retry } from '@influencer-stats/runtime/async/retry'
import { StartError } from '@influencer-stats/runtime/errors'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { Follower } from './cluster/follower.ts'
import { createPollerLease } from './cluster/poller-lease.ts'
import type { NodeState } from './cluster/node-state.ts'
import type { StatsNode } from './cluster/stats-node.ts'
import { canReplace, getCurrentSource, STAND_IN } from './core/sources.ts'
import { errors } from './errors.ts'
import type { StatsMainMessage, StatsThreadMessage } from './messages.ts'
import { openMain } from './open-main.ts'
import { QuotaMeter } from './quota/quota-meter.ts'
import { checkUpstream, getOrigin, getSource, type StatsConfig } from './settings.ts'
import { openStatsLevel, readSources } from './state/level-database.ts'
import { createLogState } from './state/log-state.ts'
import { CHANGE_KIND, toEntryBody, type StatsChange } from './state/stats-change.ts'
import { openStatsStateMachine } from './state/machine/stats-state-machine.ts'
import { reportNode } from './stats-metrics.ts'

type StatsNodeContext = OpenContext<StatsConfig, StatsThreadMessage>

/** Maximum size of a change (bytes). One change may store numbers of many collections: see `SnapshotWriter`. */
const MAX_CHANGE_BYTES = 4_194_304

/** Opens the parts of a cluster node that exist once per process. */
export async function openStatsNode(context: StatsNodeContext): Promise<ServiceMain<StatsMainMessage>> {
  const { config } = context
  checkUpstream(config)
  const node = await openNode(context)
  const saveUsage = () => node.saveUsage(meter)
  const meter: QuotaMeter = new QuotaMeter(QuotaMeter.createMemory(), config.dailyBudget, { save: saveUsage })
  return openMain(context, { state: node.state, source: node.source, meter, saveUsage, node })
}

/**
 * Opens the log, and the database that this node builds from it. Both are closed with the state.
 * @throws StartError
 */
async function openNode({ config, registry, log, fail }: StatsNodeContext): Promise<StatsNode> {
  if (config.state !== 'level' || config.cache !== 'poller')
    throw new StartError('SETTINGS_WRONG', 'stats: --cluster requires --state level and --cache poller')
  const level = await openStatsLevel({ folder: toReplicaFolder(config.data), log, isReplica: true })
  const follower = new Follower()
  const ownSource = getSource(config)
  const source = () => getCurrentSource(readSources(level.db))
  /** Returns the sources of this node and of the cluster if they differ. Undefined also if the cluster has none yet. */
  function getSourceMismatch(clusterSource: string | undefined): NodeState['sourceMismatch'] {
    return clusterSource === undefined || clusterSource === ownSource
      ? undefined
      : { node: ownSource, log: clusterSource }
  }
  const closing = new AbortController()
  const memory = createLogStateMemory()
  try {
    const stateMachine = await openStatsStateMachine({
      level,
      isReplica: true,
      onChanges(changes) {
        if (changes.some(({ type }) => type === 'source')) checkSource()
        follower.onChanges(changes)
      },
    })
    const clusterLog = await openLog({
      service: 'stats',
      config,
      registry,
      log,
      fail,
      stateMachine,
      memory,
      maxBody: MAX_CHANGE_BYTES,
    })
    const lease = createPollerLease(() => clusterLog.openLease(config.pollerLeaseTtl))
    follower.setLease(lease)

    /** Lets this node poll only if its source is the cluster's. */
    function checkSource(): void {
      const clusterSource = source()
      lease.setAllowed(clusterSource === ownSource)
      const mismatch = getSourceMismatch(clusterSource)
      if (mismatch) log.error(formatMismatch(mismatch))
    }

    /** Makes the source of this node the cluster's if that is allowed. @throws Problem `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` */
    async function claimSource(): Promise<void> {
      for (let before; canReplace((before = source()), ownSource, getOrigin(config.replaceSource));)
        await clusterLog.append(CHANGE_KIND, toEntryBody({ type: 'source', source: ownSource, before }))
    }

    async function claimSourceLater(): Promise<void> {
      const delays = createBackOff()
      await pause(delays.next(), closing.signal)
      await retry(claimSource, { signal: closing.signal, delays })
    }

    await claimSource().catch((fault: unknown) => {
      log.warn(
        { err: fault },
        'stats: the log has not accepted the source of this node yet; the node polls only after that',
      )
      void claimSourceLater()
    })
    checkSource()

    async function close(): Promise<void> {
      closing.abort()
      const ended = lease.close()
      await clusterLog.close()
      await ended
      await follower.waitUntilEnded()
      await closeLevel(stateMachine, level, log, 'stats')
    }
    let closed: Promise<void> | undefined
    const state = createLogState({
      log: clusterLog,
      lease,
      source: ownSource,
      level,
      close: () => (closed ??= close()),
    })

    function getState(): NodeState {
      const clusterSource = source()
      const mismatch = getSourceMismatch(clusterSource)
      return {
        polling: lease.term !== undefined,
        ...(clusterSource !== undefined && { source: clusterSource }),
        ...(mismatch && { sourceMismatch: mismatch }),
      }
    }
    reportNode(getState, registry)

    /** Publishes a change without waiting. If the write fails, the other nodes get newer numbers with a later call. */
    function publish(change: StatsChange): void {
      lease.append(CHANGE_KIND, toEntryBody(change)).catch(() => {})
    }
    return {
      state,
      backupSource: clusterLog.backupSource,
      logState: memory,
      source: () => source() ?? ownSource,
      getState,
      requestRead: async (id) => void (await clusterLog.append(CHANGE_KIND, toEntryBody({ type: 'wanted', id }))),
      sendLookup: async (lookup) =>
        void (await clusterLog.append(CHANGE_KIND, toEntryBody({ type: 'lookup', lookup }))),
      publishLookup: (reply) => publish({ type: 'lookedUp', reply, from: ownSource }),
      publishFetched: (fetched) => publish({ type: 'asked', ...fetched, from: ownSource }),
      publishFailure: (ids, detail, outage) =>
        publish({ type: 'failed', ids, detail, from: ownSource, ...(outage && { outage }) }),
      async saveUsage(meter) {
        try {
          await state.putUsage(meter.toUsage())
        } catch (cause) {
          meter.refund()
          throw errors.UPSTREAM_UNAVAILABLE('the quota of the cluster cannot be counted at present', { cause })
        }
      },
      join: (polling) => follower.join(polling),
      waitUntilPublished: () => follower.waitUntilPublished(),
      abort: () => void clusterLog.close(),
    }
  } catch (error) {
    await level.close()
    throw error
  }
}

const formatMismatch = ({ node, log }: NonNullable<NodeState['sourceMismatch']>) =>
  `stats: this node never calls YouTube: its source is ${node}, and the cluster's numbers come from ${log}. ` +
  `Set YOUTUBE_URI as on the other nodes${node === STAND_IN ? '' : `, or start this node with --replace-source ${log}`}`
