import { closedObject } from '@influencer-stats/runtime/closed-object'
import { NAME_PATTERN } from '@influencer-stats/runtime/validation'
import { IMPORT_REFUSALS } from '../../core/posts/numbers-import.ts'
import { MAX_NOTE_LENGTH, MAX_POST_COUNT, MAX_POST_TEXT_LENGTH, POST_PLATFORMS } from '../../core/posts/post.ts'
import { collectionParams } from '../collection-schemas.ts'

const moment = { type: 'string', format: 'date-time' } as const
const EXAMPLE_URL = 'https://www.tiktok.com/@creator/video/7234567890123456789'
const EXAMPLE_AT = '2026-11-20T12:00:00.000Z'

const post = {
  type: 'string',
  // The same pattern as that of collections.
  pattern: collectionParams.properties.id.pattern,
  description: 'Id of the post in the collection.',
  examples: ['tiktok-7234567890123456789'],
} as const

export const postParams = {
  type: 'object',
  required: ['id', 'post'],
  properties: { ...collectionParams.properties, post },
} as const

export const numbersParams = {
  type: 'object',
  required: [...postParams.required, 'at'],
  properties: {
    ...postParams.properties,
    at: { ...moment, description: 'Time of the numbers.', examples: [EXAMPLE_AT] },
  },
} as const

const text = { type: 'string', minLength: 1, maxLength: MAX_POST_TEXT_LENGTH, pattern: NAME_PATTERN } as const
const platform = {
  type: 'string',
  enum: POST_PLATFORMS,
  description: 'Follows from the link. A request may omit it; another platform than that of the link is refused.',
} as const
const published = {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
  ],
  description: 'Day or time of publication.',
} as const
const content = {
  url: {
    type: 'string',
    minLength: 1,
    maxLength: 8_192,
    description: 'Link to the post, which is stored in a normalised form.',
  },
  platform,
  creator: { ...text, description: 'Name of the creator. By default the name in the link, if there is one.' },
  title: text,
  published,
} as const
const exampleContent = { url: EXAMPLE_URL, creator: '@creator', title: 'Unboxing', published: '2026-11-18' }

export const postBody = closedObject(content, {
  title: 'New post',
  required: ['url'],
  examples: [{ platform: 'tiktok', ...exampleContent }],
})

const count = { type: 'integer', minimum: 0, maximum: MAX_POST_COUNT } as const
const counts = { views: count, likes: count, comments: count, shares: count, saves: count } as const
const exampleCounts = { views: 12_500, likes: 830, comments: 41, shares: 67, saves: 120 }
const note = { type: 'string', maxLength: MAX_NOTE_LENGTH, pattern: NAME_PATTERN } as const

export const numbersBody = closedObject(
  {
    ...counts,
    at: { ...moment, description: 'Time of the numbers. Default: now. Numbers of the same time are replaced.' },
    note,
  },
  {
    title: 'New numbers of a post',
    description: 'At least one count. A count that is not known is omitted; it is not 0.',
    examples: [{ ...exampleCounts, at: EXAMPLE_AT, note: 'from the creator' }],
  },
)

export const postReply = closedObject(
  {
    id: post,
    ...content,
    url: { type: 'string', format: 'uri' },
    published: { type: 'string', description: published.description },
    points: { type: 'integer', description: 'Number of times with numbers.' },
    numbers: closedObject(
      { ...counts, asOf: { ...moment, description: 'Time of the newest numbers.' } },
      {
        description:
          'Last reported value of each count. A count that was never reported is absent. Absent without numbers.',
        required: ['asOf'],
      },
    ),
  },
  {
    title: 'Post',
    required: ['id', 'platform', 'url', 'points'],
    examples: [
      {
        id: post.examples[0],
        platform: 'tiktok',
        ...exampleContent,
        points: 1,
        numbers: { ...exampleCounts, asOf: EXAMPLE_AT },
      },
    ],
  },
)

export const postsReply = closedObject(
  { posts: { type: 'array', items: postReply } },
  { title: 'Posts', required: ['posts'], examples: [{ posts: postReply.examples }] },
)

const numbersPoint = closedObject({ at: moment, ...counts, note }, { required: ['at'] })
export const numbersReply = closedObject(
  { numbers: { type: 'array', items: numbersPoint } },
  {
    title: 'Numbers of a post',
    required: ['numbers'],
    examples: [{ numbers: [{ at: EXAMPLE_AT, ...exampleCounts, note: 'from the creator' }] }],
  },
)

const reportedSums = {
  impressions: { ...count, description: 'Views.' },
  engagements: { ...count, description: 'Likes, comments and shares.' },
  saves: count,
  posts: { type: 'integer', minimum: 0, description: 'Number of posts.' },
} as const

/** Reported sums in the statistics of a collection. */
export const reportedSchema = closedObject(
  {
    ...reportedSums,
    asOf: { ...moment, description: "Time of the oldest of the posts' newest numbers. Absent without numbers." },
  },
  {
    description:
      'Sums of the posts of other platforms, as people or programs reported them. They are not part of the other sums. ' +
      'A sum is absent if it was never reported. Absent for a collection without posts.',
    required: ['posts'],
  },
)

export const reportedHistoryReply = closedObject(
  {
    points: {
      type: 'array',
      items: closedObject(
        { at: moment, ...reportedSums, posts: { ...reportedSums.posts, description: 'Number of posts with numbers.' } },
        { required: ['at', 'posts'] },
      ),
    },
  },
  {
    title: 'History of reported sums',
    required: ['points'],
    examples: [{ points: [{ at: EXAMPLE_AT, impressions: 12_500, engagements: 938, saves: 120, posts: 1 }] }],
  },
)

const line = { type: 'integer', minimum: 1, description: 'Line of the row in the file.' } as const
export const importedNumbersReply = closedObject(
  {
    stored: { type: 'integer', description: 'Number of accepted rows.' },
    refused: { type: 'integer', description: 'Number of refused rows.' },
    rows: {
      type: 'array',
      items: closedObject(
        {
          line,
          state: { type: 'string', enum: ['new', 'replaced', 'refused'] },
          post: { type: 'string', description: 'Id of the post of an accepted row.' },
          reason: { type: 'string', enum: IMPORT_REFUSALS },
          detail: { type: 'string', description: 'Text that is the reason.' },
        },
        { required: ['line', 'state'] },
      ),
    },
    unknownHeadings: {
      type: 'array',
      items: { type: 'string' },
      description: 'Headings that are not known. Their columns were ignored.',
    },
  },
  {
    title: 'Imported numbers',
    required: ['stored', 'refused', 'rows', 'unknownHeadings'],
    examples: [
      {
        stored: 1,
        refused: 1,
        rows: [
          { line: 2, state: 'new', post: post.examples[0] },
          {
            line: 3,
            state: 'refused',
            reason: 'POST_NOT_FOUND',
            detail: 'https://www.instagram.com/reel/C1a2b3c4d5e/',
          },
        ],
        unknownHeadings: [],
      },
    ],
  },
)
