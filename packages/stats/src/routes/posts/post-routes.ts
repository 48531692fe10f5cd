import type { App } from '@influencer-stats/runtime/http'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import { buildChangeReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { FromSchema } from 'json-schema-to-ts'
import type { PostLink } from '../../core/paste/content-link.ts'
import { readCell } from '../../core/paste/read-sheet.ts'
import { toPostId, toPostReply, type PostContent } from '../../core/posts/post.ts'
import { errors } from '../../errors.ts'
import type { Posts } from '../../posts/posts.ts'
import type { StateReader } from '../../state/stats-state.ts'
import { changeFaults } from '../collection-routes.ts'
import { collectionParams } from '../collection-schemas.ts'
import { listPosts } from './post-list.ts'
import { postBody, postParams, postReply, postsReply } from './post-schemas.ts'

const tags = ['posts']

/** Possible errors of any change of posts. */
export const postFaults = [...changeFaults, errors.COLLECTION_NOT_FOUND]
export const postReadFaults = [errors.STATE_UNAVAILABLE, commonErrors.VALIDATION_FAILED, errors.COLLECTION_NOT_FOUND]

const putFaults = [...postFaults, errors.PLATFORM_MISMATCH, errors.DUPLICATE_POST, errors.TOO_MANY_POSTS]

/** Returns the post that a text links to. @throws Problem `VALIDATION_FAILED` */
function parsePostLink(text: string): PostLink {
  const links = readCell(text).flatMap(({ content }) => ('link' in content ? content.link : []))
  const [link] = links
  if (links.length === 1 && link!.type === 'post') return link as PostLink
  throw commonErrors.VALIDATION_FAILED(
    'body/url must be a link to a post of Instagram, TikTok, Twitch, X, Facebook or LinkedIn; ' +
      `received ${formatReceived(text)}`,
  )
}

/** @throws Problem `VALIDATION_FAILED`, `PLATFORM_MISMATCH` */
function readPost(body: FromSchema<typeof postBody>): { readonly content: PostContent; readonly link: PostLink } {
  const link = parsePostLink(body.url)
  const { platform = link.platform, creator = link.author, title, published } = body
  if (platform !== link.platform)
    throw errors.PLATFORM_MISMATCH(`the link is one of ${link.platform}; received ${platform}`)
  const content = {
    platform,
    url: link.url,
    ...(creator !== undefined && { creator }),
    ...(title !== undefined && { title }),
    ...(published !== undefined && { published }),
  }
  return { content, link }
}

/** Registers the routes of the posts of a collection. */
export function registerPostRoutes(app: App, state: Pick<StateReader, 'get' | 'listRecords'>, posts: Posts): void {
  app.get(
    '/collections/:id/posts',
    {
      schema: {
        tags,
        operationId: 'listPosts',
        summary: 'List the posts of a collection with their last reported numbers, in the order of their ids',
        params: collectionParams,
        response: { 200: postsReply, ...buildReadReplies(...postReadFaults) },
      },
    },
    async ({ params: { id } }): Promise<any> => {
      if (!(await state.get(id))) throw errors.COLLECTION_NOT_FOUND(id)
      return { posts: await listPosts(state, id) }
    },
  )

  app.post(
    '/collections/:id/posts',
    {
      schema: {
        tags,
        operationId: 'addPost',
        summary: 'Add a post by its link',
        description:
          'Its id is the platform and the id of the link. A post with this id is replaced; its numbers remain.',
        params: collectionParams,
        body: postBody,
        response: { 200: postReply, 201: postReply, ...buildChangeReplies(...putFaults) },
      },
    },
    async ({ params: { id }, body }, reply): Promise<any> => {
      const { content, link } = readPost(body)
      const name = toPostId(link)
      const { post, isNew } = await posts.put(id, name, content)
      return reply.code(isNew ? 201 : 200).send(toPostReply(name, post) as never)
    },
  )

  app.put(
    '/collections/:id/posts/:post',
    {
      schema: {
        tags,
        operationId: 'putPost',
        summary: 'Create or replace a post of another platform',
        description: 'The link is normalised. The numbers of a replaced post remain.',
        params: postParams,
        body: postBody,
        response: { 200: postReply, 201: postReply, ...buildChangeReplies(...putFaults) },
      },
    },
    async ({ params, body }, reply): Promise<any> => {
      const { post, isNew } = await posts.put(params.id, params.post, readPost(body).content)
      return reply.code(isNew ? 201 : 200).send(toPostReply(params.post, post) as never)
    },
  )

  app.delete(
    '/collections/:id/posts/:post',
    {
      schema: {
        tags,
        operationId: 'deletePost',
        summary: 'Delete a post and its numbers',
        params: postParams,
        response: {
          204: { type: 'null', description: 'Deleted.' },
          ...buildChangeReplies(...postFaults, errors.POST_NOT_FOUND),
        },
      },
    },
    async ({ params }, reply) => {
      await posts.delete(params.id, params.post)
      return reply.code(204).send(null)
    },
  )
}
