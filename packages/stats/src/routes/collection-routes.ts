import { readPreconditions, type Preconditions } from '@influencer-stats/runtime/conditions'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import type { Collections } from '../campaigns/collections.ts'
import { errors } from '../errors.ts'
import { getEtag, getVersion } from '../core/campaign.ts'
import { toCollectionReply } from './overview-routes.ts'
import {
  collectionBody,
  collectionParams,
  collectionPatch,
  collectionReply,
  conditions,
  matchCondition,
  newCollectionParams,
  videoParams,
  videosReply,
} from './collection-schemas.ts'
import { resolveLinks } from './resolve-links.ts'
import { resolveSources, type FindSource } from './sources/resolve-sources.ts'

const tags = ['collections']
const config = { isConditional: true }

/** Possible errors of any change. */
export const changeFaults = [
  ...storeErrors,
  errors.STATE_UNAVAILABLE,
  errors.LOG_UNAVAILABLE,
  errors.OUTCOME_UNKNOWN,
  commonErrors.VALIDATION_FAILED,
  errors.CONDITION_INVALID,
  errors.CONDITION_FAILED,
]

/** Errors of fields that contradict each other. */
const contradictions = [errors.INVALID_DATE_RANGE, errors.COST_AMBIGUOUS]

/** Errors of sources that are looked up. */
const lookupFaults = [errors.SOURCE_NOT_FOUND, errors.UPSTREAM_UNAVAILABLE]

const videoFaults = [...changeFaults, errors.COLLECTION_NOT_FOUND]

/**
 * Returns the condition of `If-Match`, which refers to the collection's version.
 * @throws Problem `CONDITION_UNSUPPORTED` for `If-None-Match`, which would refer to the video
 */
function readMatch(headers: RequestHeaders): Preconditions | undefined {
  const condition = readPreconditions(headers)
  if (condition?.noneMatch) throw errors.CONDITION_UNSUPPORTED('a video of a collection supports only If-Match')
  return condition
}

/** Registers the routes that create, replace, change and delete collections. */
export function registerCollectionRoutes(app: App, collections: Collections, findSource: FindSource): void {
  app.put(
    '/collections/:id',
    {
      config,
      preValidation: resolveLinks,
      schema: {
        tags,
        operationId: 'putCollection',
        summary: 'Create or replace a collection',
        params: newCollectionParams,
        headers: conditions,
        body: collectionBody,
        response: {
          200: collectionReply,
          201: collectionReply,
          ...buildChangeReplies(...changeFaults, ...contradictions, ...lookupFaults),
        },
      },
    },
    async (request, reply) => {
      const { videos, sources, ...fields } = request.body
      const condition = readPreconditions(request.headers)
      const { id } = request.params
      const campaign = {
        ...fields,
        ...(sources && { sources: await resolveSources(id, sources, collections, findSource) }),
      }
      const { collection, isNew } = await collections.change('put', id, videos, campaign, condition)
      if (!isNew) request.audit = { change: 'replace', what: id }
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', getEtag(collection))
        .send(toCollectionReply(collection))
    },
  )

  app.patch(
    '/collections/:id',
    {
      config,
      preValidation: resolveLinks,
      schema: {
        tags,
        operationId: 'patchCollection',
        summary: 'Change a collection',
        description: 'Omitted fields do not change; `null` removes a field.',
        params: collectionParams,
        headers: conditions,
        body: collectionPatch,
        response: {
          200: collectionReply,
          ...buildChangeReplies(...changeFaults, errors.COLLECTION_NOT_FOUND, ...contradictions, ...lookupFaults),
        },
      },
    },
    async ({ params: { id }, body: { sources, ...fields }, headers }, reply) => {
      const resolved = sources && (await resolveSources(id, sources, collections, findSource))
      const patch = { ...fields, ...(sources !== undefined && { sources: resolved }) }
      const { collection } = await collections.change('patch', id, patch, readPreconditions(headers))
      return reply.header('etag', getEtag(collection)).send(toCollectionReply(collection))
    },
  )

  app.delete(
    '/collections/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'deleteCollection',
        summary: 'Delete a collection',
        description: 'It can be restored from the trash for 30 days (`--trash-days`): see `POST /trash/{id}/restore`.',
        params: collectionParams,
        headers: conditions,
        response: {
          204: { type: 'null', description: 'Deleted.' },
          ...buildChangeReplies(...changeFaults, errors.COLLECTION_NOT_FOUND),
        },
      },
    },
    async (request, reply) => {
      await collections.change('delete', request.params.id, readPreconditions(request.headers))
      return reply.code(204).send(null)
    },
  )

  app.put(
    '/collections/:id/videos/:video',
    {
      config,
      preValidation: resolveLinks,
      schema: {
        tags,
        operationId: 'addVideo',
        summary: 'Add a video to a collection',
        params: videoParams,
        headers: matchCondition,
        response: {
          200: videosReply,
          201: videosReply,
          ...buildChangeReplies(...videoFaults, errors.COLLECTION_FULL),
        },
      },
    },
    async (request, reply) => {
      const { id, video } = request.params
      const { collection, isChanged } = await collections.change('addVideo', id, video, readMatch(request.headers))
      return reply
        .code(isChanged ? 201 : 200)
        .header('etag', getEtag(collection))
        .send({ videos: [...collection.videos], version: getVersion(collection) })
    },
  )

  app.delete(
    '/collections/:id/videos/:video',
    {
      config,
      preValidation: resolveLinks,
      schema: {
        tags,
        operationId: 'removeVideo',
        summary: 'Remove a video from a collection',
        params: videoParams,
        headers: matchCondition,
        response: {
          204: { type: 'null', description: 'Removed.' },
          ...buildChangeReplies(...videoFaults, errors.VIDEO_NOT_IN_COLLECTION),
        },
      },
    },
    async (request, reply) => {
      const { id, video } = request.params
      const { collection } = await collections.change('removeVideo', id, video, readMatch(request.headers))
      return reply.code(204).header('etag', getEtag(collection)).send(null)
    },
  )
}
