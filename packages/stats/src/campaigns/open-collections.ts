import type { AppContext } from '@influencer-stats/runtime/service'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { toRetentionTiers } from '../core/history/retention-tiers.ts'
import { DAY_MS } from '../core/quota-budget.ts'
import type { StatsMainMessage, StatsSharedState, StatsThreadMessage } from '../messages.ts'
import { openState } from '../open-parts.ts'
import { SHARED_STATES } from '../parts.ts'
import { createRemotePosts, type Posts } from '../posts/posts.ts'
import { PostsOwner } from '../posts/posts-owner.ts'
import { ReportedTotals } from '../posts/reported-totals.ts'
import { getSource, isStateOnMain, type StatsConfig } from '../settings.ts'
import { CollectionsOwner } from './collections-owner.ts'
import { createRemoteCollections, createRemoteReader } from './collections-remote.ts'
import type { Collections } from './collections.ts'
import { CreatorIndex, type Creators } from './creators/creator-index.ts'
import { createStoredCreators } from './creators/creator-source.ts'
import { createStoredRows } from './overview/overview-source.ts'
import { Overview } from './overview/overview.ts'

/** The collections, their overview and their creators, as this thread accesses them. */
export interface CollectionParts {
  readonly collections: Collections
  readonly posts: Posts
  /** Reported sums of this thread. Empty with the cache `poller`. */
  readonly reported: ReportedTotals
  readonly overview: Pick<Overview, 'getPage' | 'getRow'>
  readonly creators: Creators
  /** Returns the origin of the numbers. */
  source(): string
  /** Database of this thread; undefined if the state is none. */
  readonly database?: SharedLevel['db'] | undefined
}

/**
 * Opens the collections on a serving thread.
 * @param resources gets the functions that close them
 */
export async function openCollections(
  context: AppContext<StatsConfig, StatsMainMessage, StatsThreadMessage>,
  resources: AsyncDisposableStack,
): Promise<CollectionParts> {
  const { config, bus, log } = context
  const { share, reported: updates } = context.shared as StatsSharedState
  const ownSource = getSource(config)
  const source = () => ownSource
  const open = () => openState(context, share)
  const reported = new ReportedTotals()
  if (!isStateOnMain(config)) {
    const tiers = toRetentionTiers(config)
    const state = await open()
    const creators = new CreatorIndex(createStoredCreators(state, ownSource), state, source)
    const owner = new CollectionsOwner({
      state,
      retention: tiers.hourly,
      dailyRetention: tiers.daily,
      trashRetention: config.trashDays * DAY_MS,
      onChange(_id, collection) {
        void reported.onCollectionChange(collection)
        creators.invalidate()
      },
      onFault: (fault, what) => log.error(fault, what),
    })
    resources.defer(() => owner.close())
    const posts = new PostsOwner({ collections: owner, onChange: (id) => reported.reload(state, [id]) })
    const overview = new Overview(createStoredRows(state, ownSource, reported), state)
    return { collections: owner, posts, reported, overview, creators, source }
  }
  reported.apply(updates)
  bus.on('reported', (changed) => void reported.apply(changed))
  const posts = createRemotePosts((method, args) => bus.call('changePosts', method, args))
  const overview: CollectionParts['overview'] = {
    getPage: (query) => bus.call('overviewPage', query),
    getRow: (id, withChange) => bus.call('overviewOne', id, withChange),
  }
  const creators: Creators = {
    getPage: (query) => bus.call('creatorPage', query),
    getDetails: (id) => bus.call('creatorDetails', id),
    getCampaign: (id) => bus.call('campaignCreators', id),
  }
  if (!SHARED_STATES.includes(config.state))
    return {
      collections: createRemoteCollections(bus, createRemoteReader(bus)),
      posts,
      reported,
      overview,
      creators,
      source,
    }
  const reader = await open()
  resources.defer(() => reader.close())
  return {
    collections: createRemoteCollections(bus, reader),
    posts,
    reported,
    overview,
    creators,
    source: () => reader.getSource?.() ?? ownSource,
    database: reader.level?.db,
  }
}
