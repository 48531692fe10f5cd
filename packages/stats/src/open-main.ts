import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { CollectionsOwner } from './campaigns/collections-owner.ts'
import { createReadHandlers } from './campaigns/collections-remote.ts'
import { CreatorIndex } from './campaigns/creators/creator-index.ts'
import { createPolledCreators, createStoredCreators } from './campaigns/creators/creator-source.ts'
import { createStoredRows } from './campaigns/overview/overview-source.ts'
import { Overview } from './campaigns/overview/overview.ts'
import type { StatsNode } from './cluster/stats-node.ts'
import { toRetentionTiers } from './core/history/retention-tiers.ts'
import { DAY_MS } from './core/quota-budget.ts'
import type { StatsMainMessage, StatsSharedState, StatsThreadMessage } from './messages.ts'
import { startPolling, type PollerHandle } from './open-polling.ts'
import { PostsOwner } from './posts/posts-owner.ts'
import { createPublishedPosts, listPostCollections } from './posts/published-posts.ts'
import { ReportedTotals } from './posts/reported-totals.ts'
import type { QuotaMeter } from './quota/quota-meter.ts'
import type { StatsConfig } from './settings.ts'
import { isCollectionLine, isRecordLine } from './core/export-line.ts'
import { reportOtherSources } from './state/other-sources.ts'
import type { StatsState } from './state/stats-state.ts'
import { reportQuota } from './stats-metrics.ts'

/** The parts that differ between a standalone service and a node of a cluster. */
export interface StatsBackend {
  readonly state: StatsState
  /** Returns the origin of the numbers. */
  source(): string
  readonly meter: QuotaMeter
  /** Persists the count of used units: see `QuotaMeter`. */
  saveUsage(): Promise<void>
  readonly node?: StatsNode
}

/** Maximum time that a closing node waits for an unavailable log (ms). */
const CLOSE_TIMEOUT_MS = 1_000

/** Opens the parts of a process that use the state: the collections, their overview, and the poller if there is one. */
export async function openMain(
  context: OpenContext<StatsConfig, StatsThreadMessage>,
  backend: StatsBackend,
): Promise<ServiceMain<StatsMainMessage>> {
  const { config, registry, log } = context
  const { state, source, meter, saveUsage, node } = backend
  reportQuota(meter, registry)
  meter.restore(await state.getUsage())

  const tiers = toRetentionTiers(config)
  let polling: PollerHandle | undefined
  const poller = () => polling!.poller
  const creatorSource =
    config.cache === 'poller' ? createPolledCreators(() => poller().replyTable) : createStoredCreators(state, source())
  const creators = new CreatorIndex(creatorSource, state, source)
  const reported = new ReportedTotals()
  await reported.load(state)
  // The poller publishes the sums with its replies.
  if (config.cache !== 'poller') reported.onChange = (updates) => context.broadcast('reported', updates)
  const publishedPosts = createPublishedPosts(state, reported, () => polling?.poller.replyTable)
  const collections = new CollectionsOwner({
    state,
    retention: tiers.hourly,
    dailyRetention: tiers.daily,
    trashRetention: config.trashDays * DAY_MS,
    // In a cluster the poller of every node, this one included, gets the change from the log.
    async onChange(id, collection, requester, last) {
      if (node) await node.waitUntilPublished()
      else {
        await publishedPosts.onCollectionChange(collection)
        await polling?.poller.onCollectionChange(id, collection, requester, last)
      }
      creators.invalidate()
    },
    onFault: (fault, description) => log.error(fault, description),
    shouldPrune: () => node?.getState().polling ?? true,
  })
  const posts = new PostsOwner({
    collections,
    onChange: (id) => (node ? node.waitUntilPublished() : publishedPosts.apply([id])),
  })
  if (config.cache === 'poller') polling = await startPolling(context, collections, meter, source(), node, reported)
  const overview = new Overview(polling?.poller.rows ?? createStoredRows(state, source(), reported), state)
  const otherSources = reportOtherSources(state, source(), log)

  return {
    backupSource: node ? node.backupSource : state.level,
    shared: (): StatsSharedState => ({
      meter: meter.memory,
      share: state.level?.share(),
      logState: node?.logState,
      replies: polling?.poller.replyTable.getReplies() ?? [],
      reported: polling ? [] : reported.getAll(),
    }),
    onThreadExit(shared) {
      const { share } = shared as StatsSharedState
      if (share) void state.level!.releaseShare(share)
    },
    handlers: {
      ...createReadHandlers(state),
      change: (requester, name, id, args) => collections.changeFor(requester, name, id, args as never),
      changePosts: (method, args) => (posts[method] as (...args: unknown[]) => unknown)(...args),
      overviewPage: (query) => overview.getPage(query),
      overviewOne: (id, withChange) => overview.getRow(id, withChange),
      creatorPage: (query) => creators.getPage(query),
      creatorDetails: (id) => creators.getDetails(id),
      campaignCreators: (id) => creators.getCampaign(id),
      async importLines(lines) {
        const imported = lines.filter(isCollectionLine)
        // Before the count is stored: a call that is counted meanwhile stores no smaller one.
        for (const line of lines) if (line.type === 'usage') meter.raise(line.usage)
        await collections.importLines(lines)
        // The poller of a node gets the change from the log.
        if (node) await node.waitUntilPublished()
        else {
          await polling?.poller.applyImport(imported.map(({ collection }) => collection.id))
          await publishedPosts.apply(listPostCollections(lines.filter(isRecordLine)))
        }
        creators.invalidate()
        const stored = await Promise.all(
          imported.map(
            async ({ collection: { id } }) => (await state.get(id)) ?? (await state.getRecords('trash', [id]))[0],
          ),
        )
        return imported.filter(({ collection }, i) => stored[i]?.revision !== collection.revision).length
      },
      saveSnapshot: (collection, snapshot) => collections.saveSnapshot(collection, snapshot),
      saveVideos: (rows) => collections.saveVideos(rows),
      poll: (id) => poller().reads.read(id),
      pollNumbers: (id) => poller().reads.readNumbers(id),
      lookUpVideos: (ids) => polling!.lookup.find(ids),
      findSource: (source) => polling!.sourceLookup.find(source),
      saveUsage,
      upstream: () => poller().getUpstreamState(),
      node: () => node?.getState(),
    },
    async close() {
      const timer = node && setTimeout(() => node.abort(), CLOSE_TIMEOUT_MS)
      await polling?.close()
      // A node persists the count with every call.
      if (!node) await saveUsage()
      reported.close()
      await otherSources.close()
      await collections.close()
      clearTimeout(timer)
    },
  }
}
