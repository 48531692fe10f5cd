import { closedObject } from '@influencer-stats/runtime/closed-object'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies } from '@influencer-stats/runtime/problem-schemas'
import { randomUUID } from 'node:crypto'
import type { Collections } from '../campaigns/collections.ts'
import { getEtag } from '../core/campaign.ts'
import { errors } from '../errors.ts'
import { changeFaults } from './collection-routes.ts'
import { collectionBody, collectionParams, collectionReply } from './collection-schemas.ts'
import { toCollectionReply } from './overview-routes.ts'

const duplicateBody = closedObject(
  { name: { ...collectionBody.properties.name, description: 'Name of the copy; by default the same name.' } },
  { title: 'Copy of a collection', examples: [{ name: 'Spring, second part' }] },
)

/** Registers the route that copies a collection. */
export function registerDuplicateRoute(app: App, collections: Collections): void {
  app.post(
    '/collections/:id/duplicate',
    {
      schema: {
        tags: ['collections'],
        operationId: 'duplicateCollection',
        summary: 'Create a copy of a collection under a new id',
        description:
          'The copy has the videos, the fields of the campaign and its sources, which do not add uploads that a person ' +
          'removed from the original. It is not in the archive, and has no history and no posts.',
        params: collectionParams,
        body: duplicateBody,
        response: { 201: collectionReply, ...buildChangeReplies(...changeFaults, errors.COLLECTION_NOT_FOUND) },
      },
    },
    async ({ params: { id }, body: { name } }, reply) => {
      const original = await collections.state.get(id)
      if (!original) throw errors.COLLECTION_NOT_FOUND(id)
      const { id: _id, revision: _revision, created: _created, archived: _archived, ...fields } = original
      const copy = { ...fields, ...(name !== undefined && { name }) }
      const { collection } = await collections.change('import', randomUUID(), copy, { noneMatch: '*' })
      return reply.code(201).header('etag', getEtag(collection)).send(toCollectionReply(collection))
    },
  )
}
