import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies } from '@influencer-stats/runtime/problem-schemas'
import type { OpenedCache } from '../../cache/open-cache.ts'
import type { Collections } from '../../campaigns/collections.ts'
import { findKnownVideos } from '../../campaigns/import/find-known-videos.ts'
import { PLATFORMS } from '../../core/paste/content-link.ts'
import { toPreview, type PreviewItem } from '../../core/paste/preview.ts'
import { listDoubtfulIds, readPaste, type Paste } from '../../core/paste/read-paste.ts'
import { errors } from '../../errors.ts'
import { collectionParams } from '../collection-schemas.ts'
import { listPosts } from '../posts/post-list.ts'

const tags = ['pastes']
/** A preview costs as much as several reads, and may take units of quota. */
const config = { cost: 10 }
/** Maximum length of a pasted text (characters). It takes at most about 0.3 s. */
const MAX_TEXT_LENGTH = 131_072

const text = { type: 'string' } as const
const line = { type: 'integer', minimum: 1 } as const

const REASONS = [
  'UNSUPPORTED_HOST',
  'UNSUPPORTED_LINK',
  'MALFORMED_ID',
  'SHORTENED_LINK',
  'PROFILE_LINK',
  'PERSONAL_PLAYLIST',
  'TOO_LONG',
  'NO_LINK',
  'NOT_A_VIDEO',
  'NOT_CHECKED',
] as const satisfies readonly PreviewItem['reason'][]

const values = closedObject(
  { creator: text, fee: { type: 'number' }, currency: text, published: text },
  { title: 'Preview values', description: 'Values of the row of a sheet.' },
)

const exampleItems = [
  {
    line: 1,
    text: 'https://youtu.be/-4lB5EKS5Uk',
    state: 'new',
    type: 'video',
    platform: 'youtube',
    id: '-4lB5EKS5Uk',
    url: 'https://www.youtube.com/watch?v=-4lB5EKS5Uk',
  },
  { line: 2, text: 'Influencers', state: 'refused', reason: 'NOT_A_VIDEO' },
]

const item = closedObject(
  {
    line: { ...line, description: 'Line of the text, from 1.' },
    text: { ...text, description: 'The pasted text, at most 200 characters.' },
    state: {
      type: 'string',
      enum: ['new', 'member', 'duplicate', 'unknown', 'refused'],
      description:
        '`member`: the collection contains it. `duplicate`: an earlier line names it. `unknown`: a bare word of 11 ' +
        'characters that could not be looked up, because of an outage or the budget.',
    },
    reason: { type: 'string', enum: REASONS, description: 'Why the item is refused or unknown.' },
    firstLine: { ...line, description: 'Line of the first item for the same content.' },
    type: { type: 'string', enum: ['video', 'channel', 'playlist', 'post'] },
    platform: { type: 'string', enum: PLATFORMS },
    id: { ...text, description: 'Absent for a channel that only has a name.' },
    url: { ...text, description: 'Normalised link.' },
    name: { ...text, description: 'Name of a channel without an id, without `@`.' },
    nameKind: { type: 'string', enum: ['handle', 'user', 'custom'] },
    isShort: { type: 'boolean', description: 'True for a link of the form /shorts/.' },
    author: { ...text, description: 'Author of a post, if its link contains it.' },
    title: { ...text, description: 'Title of the video, if it is known.' },
    channel: { ...text, description: 'Channel of the video, if it is known.' },
    values,
  },
  { title: 'Preview item', required: ['line', 'text', 'state'], examples: exampleItems },
)

const body = closedObject(
  { text: { type: 'string', maxLength: MAX_TEXT_LENGTH, description: 'A pasted sheet, list or prose.' } },
  { title: 'Pasted text', required: ['text'], examples: [{ text: 'https://youtu.be/-4lB5EKS5Uk\nInfluencers' }] },
)

const previewReply = closedObject(
  {
    items: { type: 'array', items: item },
    unknownHeadings: { type: 'array', items: text, description: 'Headings of a sheet whose columns are ignored.' },
    isCut: { type: 'boolean', description: 'True if the text has more than 10,000 items.' },
  },
  {
    title: 'Preview',
    required: ['items', 'unknownHeadings'],
    examples: [{ items: exampleItems, unknownHeadings: [] }],
  },
)

const description =
  'Nothing is changed. Videos, channels, playlists and posts of other platforms are found in a sheet, a list or prose. ' +
  'A bare word of 11 characters counts only if YouTube knows such a video: 50 words take one unit of quota.'

/** Registers the routes that show what a pasted text contains before it is added. */
export function registerPreviewRoutes(
  app: App,
  { state }: Pick<Collections, 'state'>,
  lookUpVideos: OpenedCache['lookUpVideos'],
): void {
  const lookUp = (paste: Paste) => findKnownVideos(listDoubtfulIds(paste), state, lookUpVideos)

  const toReply = (paste: Paste, items: PreviewItem[]) => ({
    items,
    unknownHeadings: [...paste.unknownHeadings],
    ...(paste.isCut && { isCut: true }),
  })

  app.post(
    '/preview',
    {
      config,
      schema: {
        tags,
        operationId: 'previewPaste',
        summary: 'Find the videos, channels, playlists and posts in a text',
        description,
        body,
        response: {
          200: previewReply,
          ...buildChangeReplies(errors.STATE_UNAVAILABLE, commonErrors.VALIDATION_FAILED),
        },
      },
    },
    async (request): Promise<any> => {
      const paste = readPaste(request.body.text)
      return toReply(paste, toPreview(paste, await lookUp(paste)))
    },
  )

  app.post(
    '/collections/:id/preview',
    {
      config,
      schema: {
        tags,
        operationId: 'previewPasteForCollection',
        summary: 'Find what a text would add to a collection',
        description,
        params: collectionParams,
        body,
        response: {
          200: previewReply,
          ...buildChangeReplies(errors.STATE_UNAVAILABLE, commonErrors.VALIDATION_FAILED, errors.COLLECTION_NOT_FOUND),
        },
      },
    },
    async (request): Promise<any> => {
      const collection = await state.get(request.params.id)
      if (!collection) throw errors.COLLECTION_NOT_FOUND(request.params.id)
      const paste = readPaste(request.body.text)
      const posts = await listPosts(state, collection.id)
      return toReply(paste, toPreview(paste, await lookUp(paste), { ...collection, posts }))
    },
  )
}
