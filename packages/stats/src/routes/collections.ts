import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { changeReplies, readReplies, storeFaults } from '@influencer-stats/runtime/replies'
import type { Collections } from '../collections.ts'
import { COLLECTION_ID } from '../core/ids.ts'
import { errors } from '../errors.ts'
import type { Collection } from '../state/state.ts'
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
const DEFAULT_LIMIT = 50
const LARGEST_LIMIT = 200

const toReply = ({ id, videos, tags: marks, ...rest }: Collection) => ({
  id,
  videos: [...videos],
  ...rest,
  ...(marks && { tags: [...marks] }),
})

/** What any change may be answered with. */
const changeFaults = [...storeFaults, errors.STATE_UNAVAILABLE, errors.OUTCOME_UNKNOWN, house.VALIDATION_FAILED]

/** The collections themselves: make, read, list, change, delete. */
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

  app.get(
    '/collections/:id',
    {
      schema: {
        tags,
        operationId: 'getCollection',
        summary: 'The videos of a collection',
        params: collectionParams,
        response: {
          200: collectionReply,
          ...readReplies(errors.STATE_UNAVAILABLE, house.VALIDATION_FAILED, errors.COLLECTION_NOT_FOUND),
        },
      },
    },
    async (request) => {
      const collection = await collections.get(request.params.id)
      if (!collection) throw errors.COLLECTION_NOT_FOUND(request.params.id)
      return toReply(collection)
    },
  )

  app.get(
    '/collections',
    {
      schema: {
        tags,
        operationId: 'listCollections',
        summary: 'Collections in the order of their ids',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            limit: { type: 'integer', minimum: 1, maximum: LARGEST_LIMIT, default: DEFAULT_LIMIT },
            after: { type: 'string', pattern: COLLECTION_ID, description: 'The last id of the page before.' },
          },
        },
        response: {
          200: {
            type: 'object',
            required: ['collections'],
            additionalProperties: false,
            properties: {
              collections: { type: 'array', items: collectionReply },
              next: { type: 'string', description: 'What to give as `after` for the next page, if there may be one.' },
            },
          },
          ...readReplies(errors.STATE_UNAVAILABLE, house.VALIDATION_FAILED),
        },
      },
    },
    async ({ query: { limit = DEFAULT_LIMIT, after = '' } }) => {
      const page = await collections.list(after, limit)
      return { collections: page.map(toReply), next: page.length === limit ? page.at(-1)!.id : undefined }
    },
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
