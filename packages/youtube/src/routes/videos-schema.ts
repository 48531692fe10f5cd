import { closedObject } from '@influencer-stats/runtime/closed-object'
import { googleErrors, type GoogleErrorEntry } from '../core/google-errors.ts'
import { MAX_IDS } from '../core/videos-query.ts'
import { partBuilders, PARTS_WITHOUT_CONTENT } from '../core/video-parts.ts'

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
const statistics = closedObject({
  viewCount: count,
  likeCount: count,
  dislikeCount: count,
  favoriteCount: count,
  commentCount: { ...count, description: 'Absent if comments are disabled.' },
})
const anyObject = { type: 'object', additionalProperties: true } as const

// No member is required: `part` and `fields` select the members.
const videoItem = closedObject({
  kind: { ...text, const: 'youtube#video' },
  etag: text,
  id: { ...text, pattern: '^[A-Za-z0-9_-]{11}$' },
  snippet: anyObject,
  contentDetails: anyObject,
  status: anyObject,
  statistics,
})
const listSchema = closedObject(
  {
    kind: { ...text, const: 'youtube#videoListResponse' },
    etag: text,
    items: { type: 'array', maxItems: MAX_IDS, items: videoItem },
    pageInfo: closedObject({ totalResults: { type: 'integer' }, resultsPerPage: { type: 'integer' } }),
  },
  { title: 'Videos' },
)

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
    421: describeJson('The Host header names a host that this service does not serve.', errorSchema),
    500: describeJson('`internalError`', errorSchema),
    503: describeJson('`backendError`: a fault is active', errorSchema),
  }
}

const parts = [...Object.keys(partBuilders), ...PARTS_WITHOUT_CONTENT]
// Pattern of the usual forms of `fields`. The parser also accepts deeper fields, which a pattern cannot describe
// shortly.
const counts = Object.keys(statistics.properties).join('|')
const part = `(\\*|kind|etag|id|snippet|contentDetails|status|statistics(/(\\*|${counts})|\\((\\*|${counts})\\))?)`
const field = `(\\*|kind|etag|pageInfo|items(/${part}|\\(${part}(,${part})*\\))?)`

/**
 * Returns the documentation of the route.
 * @param keys accepted API keys; shown only if the default key `stand-in` is the only one
 */
export function createVideosSchema(keys: readonly string[]) {
  const isDefault = keys.length === 1 && keys[0] === 'stand-in'
  return {
    tags: ['YouTube Data API v3'],
    operationId: 'listVideos',
    summary: 'Videos by id',
    description:
      'Behaves like `videos.list` for queries by id. `chart` and `myRating` get an error. The stand-in ignores the other parameters of the API.',
    querystring: {
      // `key` is not always required: the header `x-goog-api-key` may replace it. A schema cannot state that either a
      // query parameter or a header is required, so this one requires `key`.
      type: 'object',
      required: ['part', 'id', 'key'],
      properties: {
        part: {
          type: 'array',
          minItems: 1,
          items: { type: 'string', enum: parts },
          examples: [['statistics']],
          description: 'Parts of each video; may also be separated by commas.',
        },
        id: {
          type: 'array',
          minItems: 1,
          maxItems: MAX_IDS,
          items: { type: 'string', minLength: 1 },
          examples: [['-4lB5EKS5Uk']],
          description: 'Ids of the videos; may also be separated by commas. The reply omits videos that do not exist.',
        },
        key: {
          type: 'string',
          minLength: 1,
          ...(isDefault && { enum: keys, examples: keys }),
          description: 'API key; alternatively in the header `x-goog-api-key`.',
        },
        fields: {
          type: 'string',
          pattern: `^(${field}(,${field})*)?$`,
          examples: ['items(id,statistics/viewCount)'],
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
      200: describeJson('The videos that exist.', listSchema),
      304: { type: 'null', description: 'The client already has this reply.' },
      ...buildErrorReplies(),
    },
  }
}
