import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { OpenedCache } from '../../cache/open-cache.ts'
import type { Collections } from '../../campaigns/collections.ts'
import { getSourceStatus, SOURCE_STATES } from '../../core/follow/source-status.ts'
import { getPlaylistId } from '../../core/follow/upload-rules.ts'
import { errors } from '../../errors.ts'
import { collectionParams, sourceFields } from '../collection-schemas.ts'

const time = { type: 'string', format: 'date-time' } as const
const exampleSource = {
  type: 'channel',
  id: 'UCuAXFkgsw1L7xaCfnd5JJOw',
  title: 'Rick Astley',
  contains: ['#spring'],
  state: 'active',
  added: 3,
  checked: '2026-03-10T12:00:00.000Z',
  next: '2026-03-10T12:15:00.000Z',
}

const sourcesReply = closedObject(
  {
    sources: {
      type: 'array',
      items: closedObject(
        {
          ...sourceFields,
          title: { type: 'string' },
          state: {
            type: 'string',
            enum: SOURCE_STATES,
            description:
              '`waiting`: not checked yet. `active`: the last check succeeded. `failing`: YouTube refuses the list. ' +
              '`paused`: no calls at present. `inactive`: not checked now.',
          },
          reason: {
            type: 'string',
            description:
              'Reason of YouTube such as `playlistNotFound`; `dailyBudgetSpent`, or `sideBudgetSpent` for the tenth of ' +
              'it that sources may use; of an inactive source `archived`, `notBegun`, `ended` or `noPoller`.',
          },
          added: { type: 'integer', minimum: 0, description: 'Number of its videos that it added.' },
          checked: { ...time, description: 'Time of the last check. Absent before the first one.' },
          next: { ...time, description: 'Time of the next check, as far as it is planned.' },
        },
        { title: 'State of a source', required: ['type', 'id', 'state', 'added'] },
      ),
    },
  },
  { title: 'Sources', required: ['sources'], examples: [{ sources: [exampleSource] }] },
)

interface SourceRouteOptions {
  readonly collections: Pick<Collections, 'state'>
  readonly upstream: OpenedCache['upstream']
  /** True if this service has a poller, which checks the sources. */
  readonly isPolled: boolean
}

/** Registers the route with the state of the channels and playlists that a collection follows. */
export function registerSourceRoutes(
  app: App,
  { collections: { state }, upstream, isPolled }: SourceRouteOptions,
): void {
  app.get(
    '/collections/:id/sources',
    {
      schema: {
        tags: ['collections'],
        operationId: 'listSources',
        summary: 'The channels and playlists that a collection follows, with their last and their next check',
        params: collectionParams,
        response: {
          200: sourcesReply,
          ...buildReadReplies(errors.STATE_UNAVAILABLE, commonErrors.VALIDATION_FAILED, errors.COLLECTION_NOT_FOUND),
        },
      },
    },
    async ({ params: { id } }): Promise<any> => {
      const collection = await state.get(id)
      if (!collection) throw errors.COLLECTION_NOT_FOUND(id)
      const { sources = [] } = collection
      if (sources.length === 0) return { sources: [] }
      const [feeds, upstreamState] = await Promise.all([
        state.getRecords('feed', sources.map(getPlaylistId)),
        upstream(),
      ])
      const now = Date.now()
      return {
        sources: sources.map((source, i) =>
          getSourceStatus(collection, source, { feed: feeds[i], upstream: upstreamState, isPolled, now }),
        ),
      }
    },
  )
}
