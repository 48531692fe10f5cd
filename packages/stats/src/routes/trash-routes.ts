import { closedObject } from '@influencer-stats/runtime/closed-object'
import { readPreconditions } from '@influencer-stats/runtime/conditions'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { Collections } from '../campaigns/collections.ts'
import { getEtag } from '../core/campaign.ts'
import { errors } from '../errors.ts'
import { DAY_MS } from '../core/quota-budget.ts'
import { changeFaults } from './collection-routes.ts'
import { collectionParams, collectionReply, matchCondition } from './collection-schemas.ts'
import { toCollectionReply } from './overview-routes.ts'

const tags = ['trash']
const config = { isConditional: true }
const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

const moment = { type: 'string', format: 'date-time' } as const
const example = { deleted: '2026-11-21T12:00:00.000Z', expires: '2026-12-21T12:00:00.000Z' }

const trashedReply = {
  ...collectionReply,
  title: 'Deleted collection',
  required: [...collectionReply.required, 'deleted', 'expires'],
  examples: [{ ...collectionReply.examples[0], ...example }],
  properties: {
    ...collectionReply.properties,
    deleted: { ...moment, description: 'Time of the deletion.' },
    expires: { ...moment, description: 'Time from which the collection is deleted for good.' },
  },
} as const

const trashQuery = closedObject({
  limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  after: { ...collectionParams.properties.id, description: 'Cursor: `next` of the previous page.' },
})

const trashReply = closedObject(
  {
    collections: { type: 'array', items: trashedReply },
    next: { type: 'string', description: 'Cursor for `after` of the next page, which may be empty.' },
  },
  { title: 'Trash', required: ['collections'], examples: [{ collections: trashedReply.examples }] },
)

const trashFaults = [...changeFaults, errors.NOT_IN_TRASH]

/**
 * Registers the routes of the trash.
 * @param trashDays retention of deleted collections (days)
 */
export function registerTrashRoutes(app: App, collections: Collections, trashDays: number): void {
  app.get(
    '/trash',
    {
      schema: {
        tags,
        operationId: 'listTrash',
        summary: 'List the deleted collections that can be restored, in the order of their ids',
        querystring: trashQuery,
        response: { 200: trashReply, ...buildReadReplies(errors.STATE_UNAVAILABLE, commonErrors.VALIDATION_FAILED) },
      },
    },
    async ({ query: { limit = DEFAULT_LIMIT, after = '' } }): Promise<any> => {
      const page = await collections.state.listRecords('trash', { after, limit })
      return {
        collections: page.map(({ value: { deleted, ...collection } }) => ({
          ...toCollectionReply(collection),
          deleted,
          expires: new Date(Date.parse(deleted) + trashDays * DAY_MS).toISOString(),
        })),
        next: page.length === limit ? page.at(-1)!.key : undefined,
      }
    },
  )

  app.post(
    '/trash/:id/restore',
    {
      config,
      schema: {
        tags,
        operationId: 'restoreCollection',
        summary: 'Restore a deleted collection with its numbers and its history',
        description: 'The collection has its time of creation as before, and a new version.',
        params: collectionParams,
        headers: matchCondition,
        response: { 200: collectionReply, ...buildChangeReplies(...trashFaults) },
      },
    },
    async ({ params: { id }, headers }, reply) => {
      const { collection } = await collections.change('restore', id, readPreconditions(headers))
      return reply.header('etag', getEtag(collection)).send(toCollectionReply(collection))
    },
  )

  app.delete(
    '/trash/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'deleteForGood',
        summary: 'Delete a deleted collection, its numbers and its history for good',
        params: collectionParams,
        headers: matchCondition,
        response: { 204: { type: 'null', description: 'Deleted.' }, ...buildChangeReplies(...trashFaults) },
      },
    },
    async (request, reply) => {
      await collections.change('purge', request.params.id, readPreconditions(request.headers))
      return reply.code(204).send(null)
    },
  )
}
