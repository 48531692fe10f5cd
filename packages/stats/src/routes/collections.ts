import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { changeReplies, storeFaults } from '@influencer-stats/runtime/replies'
import type { Collections } from '../collections.ts'
import { errors } from '../errors.ts'
import { toReply } from './overview.ts'
import {
  collectionBody,
  collectionParams,
  collectionPatch,
  collectionReply,
  videoParams,
  videosReply,
} from './schemas.ts'
import { takeLinks } from './video-links.ts'

const tags = ['collections']

/** What any change may be answered with. */
const changeFaults = [
  ...storeFaults,
  errors.STATE_UNAVAILABLE,
  errors.LOG_UNAVAILABLE,
  errors.OUTCOME_UNKNOWN,
  house.VALIDATION_FAILED,
]

/** Changes of collections: make, replace, change, delete. */
export function collectionRoutes(app: App, collections: Collections): void {
  app.put(
    '/collections/:id',
    {
      preValidation: takeLinks,
      schema: {
        tags,
        operationId: 'putCollection',
        summary: 'Make or replace a collection',
        params: collectionParams,
        body: collectionBody,
        response: {
          200: collectionReply,
          201: collectionReply,
          ...changeReplies(...changeFaults, errors.DATES_REVERSED),
        },
      },
    },
    async (request, reply) => {
      const { videos, ...campaign } = request.body
      const { collection, created } = await collections.put(request.params.id, videos, campaign)
      if (!created) request.audit = { change: 'replace', what: request.params.id }
      return reply.code(created ? 201 : 200).send(toReply(collection))
    },
  )

  app.patch(
    '/collections/:id',
    {
      preValidation: takeLinks,
      schema: {
        tags,
        operationId: 'patchCollection',
        summary: 'Change a collection',
        description: 'What is not named stays as it is; `null` takes something away.',
        params: collectionParams,
        body: collectionPatch,
        response: {
          200: collectionReply,
          ...changeReplies(...changeFaults, errors.COLLECTION_NOT_FOUND, errors.DATES_REVERSED),
        },
      },
    },
    async (request) => toReply(await collections.patch(request.params.id, request.body)),
  )

  app.delete(
    '/collections/:id',
    {
      schema: {
        tags,
        operationId: 'deleteCollection',
        summary: 'Forget a collection, its numbers and its history',
        params: collectionParams,
        response: {
          204: { type: 'null', description: 'Forgotten.' },
          ...changeReplies(...changeFaults, errors.COLLECTION_NOT_FOUND),
        },
      },
    },
    async (request, reply) => {
      if (!(await collections.delete(request.params.id))) throw errors.COLLECTION_NOT_FOUND(request.params.id)
      return reply.code(204).send(null)
    },
  )

  app.put(
    '/collections/:id/videos/:video',
    {
      preValidation: takeLinks,
      schema: {
        tags,
        operationId: 'addVideo',
        summary: 'Add a video to a collection',
        params: videoParams,
        response: {
          200: videosReply,
          201: videosReply,
          ...changeReplies(...changeFaults, errors.COLLECTION_NOT_FOUND, errors.COLLECTION_FULL),
        },
      },
    },
    async (request, reply) => {
      const { collection, created } = await collections.addVideo(request.params.id, request.params.video)
      return reply.code(created ? 201 : 200).send({ videos: [...collection.videos] })
    },
  )

  app.delete(
    '/collections/:id/videos/:video',
    {
      preValidation: takeLinks,
      schema: {
        tags,
        operationId: 'removeVideo',
        summary: 'Remove a video from a collection',
        params: videoParams,
        response: {
          204: { type: 'null', description: 'Removed.' },
          ...changeReplies(...changeFaults, errors.COLLECTION_NOT_FOUND, errors.VIDEO_NOT_IN_COLLECTION),
        },
      },
    },
    async (request, reply) => {
      await collections.removeVideo(request.params.id, request.params.video)
      return reply.code(204).send(null)
    },
  )
}
