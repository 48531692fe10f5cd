import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { buildProblemReplies } from '@influencer-stats/runtime/problems'
import { googleErrors, type GoogleErrorEntry } from '../core/google-errors.ts'
import type { FieldShape } from '../core/field-mask.ts'
import { MAX_IDS, MAX_RESULTS } from '../lists/list-call.ts'
import type { ListResource } from '../lists/list-resource.ts'

const text = { type: 'string' } as const
const errorEntry = closedObject(
  {
    message: text,
    domain: text,
    reason: { ...text, description: 'Stable code of the kind of error.' },
    location: text,
    locationType: text,
  },
  { required: ['message', 'domain', 'reason'] },
)
const errorSchema = closedObject(
  {
    error: closedObject(
      {
        code: { type: 'integer', description: 'HTTP status.' },
        message: text,
        errors: { type: 'array', minItems: 1, items: errorEntry },
      },
      { required: ['code', 'message', 'errors'] },
    ),
  },
  { title: "Google's error", required: ['error'] },
)

const count = { ...text, pattern: '^[0-9]+$' } as const
const anyObject = { type: 'object', additionalProperties: true } as const

const statisticsSchemas = {
  videos: closedObject({
    viewCount: count,
    likeCount: count,
    dislikeCount: count,
    favoriteCount: count,
    commentCount: { ...count, description: 'Absent if comments are disabled.' },
  }),
  channels: closedObject({
    viewCount: count,
    subscriberCount: { ...count, description: 'Absent if the channel hides it.' },
    hiddenSubscriberCount: { type: 'boolean' },
    videoCount: count,
  }),
} as const

interface ResourceText {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly title: string
  readonly idPattern: string
  /** Parameters other than those of every method. */
  readonly filters: Readonly<Record<string, object>>
  readonly required: readonly string[]
}

const createIdParameter = (description: string, example: string) => ({
  type: 'array',
  minItems: 1,
  maxItems: MAX_IDS,
  items: { type: 'string', minLength: 1 },
  examples: [[example]],
  description: `${description}; may also be separated by commas. The reply omits those that do not exist.`,
})
const EXAMPLE_CHANNEL = 'UC0007000700070007000700'
const EXAMPLE_PLAYLIST = 'UU0007000700070007000700'
const pageParameters = {
  maxResults: { type: 'integer', minimum: 0, maximum: MAX_RESULTS, default: 5 },
  pageToken: { type: 'string', description: '`nextPageToken` or `prevPageToken` of a reply.' },
} as const

const resourceTexts: Readonly<Record<ListResource<any>['name'], ResourceText>> = {
  videos: {
    operationId: 'listVideos',
    summary: 'Videos by id',
    description:
      'Behaves like `videos.list` for queries by id. `chart` and `myRating` get an error. The stand-in ignores the other parameters of the API.',
    title: 'Videos',
    idPattern: '^[A-Za-z0-9_-]{11}$',
    filters: { id: createIdParameter('Ids of the videos', '-4lB5EKS5Uk') },
    required: ['id'],
  },
  channels: {
    operationId: 'listChannels',
    summary: 'Channels by id, handle or user name',
    description: 'Behaves like `channels.list`. A call has exactly one of `id`, `forHandle` and `forUsername`.',
    title: 'Channels',
    idPattern: '^UC[0-9]{22}$',
    filters: {
      id: createIdParameter('Ids of the channels', EXAMPLE_CHANNEL),
      forHandle: { type: 'string', description: 'Handle, with or without `@`.' },
      forUsername: { type: 'string' },
      ...pageParameters,
    },
    required: ['id'],
  },
  playlists: {
    operationId: 'listPlaylists',
    summary: 'Playlists by id or channel',
    description: 'Behaves like `playlists.list`. A call has exactly one of `id` and `channelId`.',
    title: 'Playlists',
    idPattern: '^(UU[0-9]{22}|PL[0-9]{32})$',
    filters: { id: createIdParameter('Ids of the playlists', EXAMPLE_PLAYLIST), channelId: text, ...pageParameters },
    required: ['id'],
  },
  playlistItems: {
    operationId: 'listPlaylistItems',
    summary: 'Videos of a playlist, such as the uploads of a channel',
    description: 'Behaves like `playlistItems.list` for queries by playlist.',
    title: 'PlaylistItems',
    idPattern: '^[A-Za-z0-9_-]+$',
    filters: {
      playlistId: { type: 'string', minLength: 1, examples: [EXAMPLE_PLAYLIST] },
      videoId: { type: 'string', description: 'Only the items of this video.' },
      ...pageParameters,
    },
    required: ['playlistId'],
  },
}

// No member is required: `part` and `fields` select the members.
function createReplySchema({ name, kind, partBuilders }: ListResource<any>) {
  const { title, idPattern } = resourceTexts[name]
  const statistics = statisticsSchemas[name as keyof typeof statisticsSchemas]
  const parts = Object.keys(partBuilders).map((part) => [part, part === 'statistics' ? statistics : anyObject])
  const item = closedObject({
    kind: { ...text, const: kind },
    etag: text,
    id: { ...text, pattern: idPattern },
    ...(Object.fromEntries(parts) as Record<string, object>),
  })
  return closedObject(
    {
      kind: { ...text, const: `${kind}ListResponse` },
      etag: text,
      nextPageToken: text,
      prevPageToken: text,
      items: { type: 'array', maxItems: MAX_IDS, items: item },
      pageInfo: closedObject({ totalResults: { type: 'integer' }, resultsPerPage: { type: 'integer' } }),
    },
    { title },
  )
}

const describeJson = <Schema>(description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
})

function buildErrorReplies() {
  const byStatus = Map.groupBy<number, GoogleErrorEntry>(Object.values(googleErrors), ({ status }) => status)
  const googleReplies = [...byStatus].map(([status, entries]) => {
    const reasons = [...new Set(entries.map(({ reason }) => `\`${reason}\``))]
    return [status, describeJson(reasons.join(', '), errorSchema)] as const
  })
  return {
    ...Object.fromEntries(googleReplies),
    // The parser refuses the request before it is known for which route it is.
    ...buildProblemReplies(commonErrors.URI_TOO_LONG),
    421: describeJson('The Host header names a host that this service does not serve.', errorSchema),
    500: describeJson('`internalError`', errorSchema),
    503: describeJson('`backendError`: a fault is active', errorSchema),
  }
}

/**
 * Returns a pattern of the usual forms of `fields`. The parser also accepts deeper fields, which a pattern cannot
 * describe shortly.
 */
function createFieldsPattern({ shape }: ListResource<any>): string {
  const parts = Object.entries(shape).map(([name, fields]) => `${name}${createDepthPattern(fields)}`)
  const part = `(\\*|kind|etag|id|${parts.join('|')})`
  const field = `(\\*|kind|etag|nextPageToken|prevPageToken|pageInfo|items(/${part}|\\(${part}(,${part})*\\))?)`
  return `^(${field}(,${field})*)?$`
}

function createDepthPattern(fields: FieldShape): string {
  if (typeof fields === 'string') return ''
  const name = `(\\*|${Object.keys(fields).join('|')})`
  return `(/${name}|\\(${name}(,${name})*\\))?`
}

/**
 * Returns the documentation of a route.
 * @param keys accepted API keys; shown only if the default key `stand-in` is the only one
 */
export function createListSchema(resource: ListResource<any>, keys: readonly string[]) {
  const { name, partBuilders, partsWithoutContent } = resource
  const { operationId, summary, description, filters, required } = resourceTexts[name]
  const isDefault = keys.length === 1 && keys[0] === 'stand-in'
  return {
    tags: ['YouTube Data API v3'],
    operationId,
    summary,
    description,
    querystring: {
      // `key` is not always required: the header `x-goog-api-key` may replace it. A schema cannot state that either a
      // query parameter or a header is required, so this one requires `key`. The same holds for one of several filters.
      type: 'object',
      required: ['part', ...required, 'key'],
      properties: {
        part: {
          type: 'array',
          minItems: 1,
          items: { type: 'string', enum: [...Object.keys(partBuilders), ...partsWithoutContent] },
          examples: [['statistics' in partBuilders ? 'statistics' : 'snippet']],
          description: 'Parts of each item; may also be separated by commas.',
        },
        ...filters,
        key: {
          type: 'string',
          minLength: 1,
          ...(isDefault && { enum: keys, examples: keys }),
          description: 'API key; alternatively in the header `x-goog-api-key`.',
        },
        fields: {
          type: 'string',
          pattern: createFieldsPattern(resource),
          examples: [name === 'videos' ? 'items(id,statistics/viewCount)' : 'items(id,snippet/title)'],
          description:
            'Fields of the reply; all if empty. The pattern shows the usual forms; fields may have any depth.',
        },
        prettyPrint: { type: 'boolean', default: true, description: 'True: the reply is indented.' },
        alt: { type: 'string', enum: ['json'] },
      },
    },
    headers: {
      type: 'object',
      properties: { 'if-none-match': { type: 'string', description: 'ETag of a reply that the client already has.' } },
    },
    response: {
      200: describeJson('The items that exist.', createReplySchema(resource)),
      304: { type: 'null', description: 'The client already has this reply.' },
      ...buildErrorReplies(),
    },
  }
}
