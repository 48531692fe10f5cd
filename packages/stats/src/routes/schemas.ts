import { CURRENCIES, MAX_COST, MAX_NAME, MAX_TAG, MAX_TAGS } from '../core/campaign.ts'
import { COLLECTION_ID, MAX_VIDEOS, VIDEO_ID } from '../core/ids.ts'
import { VIDEO } from '../core/video-links.ts'

const id = {
  type: 'string',
  pattern: COLLECTION_ID,
  description: 'Chosen by whoever makes the collection.',
  examples: ['99757a95-f758-499f-a170-bea93b2d8bcf'],
} as const
const video = {
  type: 'string',
  pattern: VIDEO_ID,
  description: "YouTube's id of the video.",
  examples: ['-4lB5EKS5Uk'],
} as const

export const collectionParams = {
  type: 'object',
  required: ['id'],
  properties: { id },
} as const

export const videoParams = {
  type: 'object',
  required: ['id', 'video'],
  properties: { id, video },
} as const

const videos = { type: 'array', maxItems: MAX_VIDEOS, items: video } as const

const links = {
  type: 'array',
  maxItems: MAX_VIDEOS,
  items: { type: 'string', pattern: VIDEO },
  description: 'Ids of videos, or links to them: watch, youtu.be, shorts, live, embed. The ids are kept.',
} as const

const name = { type: 'string', minLength: 1, maxLength: MAX_NAME } as const
const tags = {
  type: 'array',
  maxItems: MAX_TAGS,
  items: { type: 'string', minLength: 1, maxLength: MAX_TAG },
} as const
const day = { type: 'string', format: 'date' } as const
const from = { ...day, description: 'The first day of the campaign.' } as const
const to = { ...day, description: 'The last day of the campaign.' } as const
const cost = { type: 'number', minimum: 0, maximum: MAX_COST, description: 'What the campaign costs.' } as const
const currency = { type: 'string', enum: CURRENCIES, description: 'An ISO 4217 code.' } as const

const orNull = <const Schema extends object>(schema: Schema) => ({ anyOf: [schema, { type: 'null' }] }) as const

const example = {
  name: 'Spring, sparkling water',
  tags: ['spring', 'drinks'],
  from: '2026-03-01',
  to: '2026-05-31',
  cost: 12_500,
  currency: 'EUR',
}

export const collectionBody = {
  type: 'object',
  title: 'Collection to keep',
  required: ['videos'],
  additionalProperties: false,
  properties: { videos: links, name, tags, from, to, cost, currency },
  examples: [
    { videos: ['-4lB5EKS5Uk', '-jlLkTtgWUk'] },
    { videos: ['https://www.youtube.com/watch?v=-4lB5EKS5Uk&t=10s', 'https://youtu.be/1FEFpk-uIYo'], ...example },
  ],
} as const

/** `null` takes something away. */
export const collectionPatch = {
  type: 'object',
  title: 'Change of a collection',
  additionalProperties: false,
  properties: {
    videos: links,
    name: orNull(name),
    tags: orNull(tags),
    from: orNull(from),
    to: orNull(to),
    cost: orNull(cost),
    currency: orNull(currency),
  },
  examples: [{ name: 'Spring', cost: null }],
} as const

export const videosReply = {
  type: 'object',
  required: ['videos'],
  additionalProperties: false,
  properties: { videos },
} as const

export const collectionReply = {
  type: 'object',
  title: 'Collection',
  required: ['id', 'videos'],
  additionalProperties: false,
  properties: { id, videos, name, tags, from, to, cost, currency: { type: 'string' } },
  examples: [{ id: id.examples[0], videos: ['-4lB5EKS5Uk', '1FEFpk-uIYo'], ...example }],
} as const

const count = { type: 'integer', minimum: 0 } as const

const totals = { impressions: count, engagements: count, score: count, videos: count } as const

const moment = { type: 'string', format: 'date-time' } as const

const gone = {
  since: { ...moment, description: 'When YouTube was first asked for it in vain.' },
  asOf: { ...moment, description: 'When YouTube was asked for its last numbers, or earlier.' },
} as const

const sums = {
  type: 'object',
  title: 'Sums',
  required: ['impressions', 'engagements', 'score', 'videos', 'missing', 'asOf', 'stale'],
  additionalProperties: false,
  properties: {
    ...totals,
    missing: { ...videos, description: 'Videos of which YouTube has given no numbers yet, and gives none.' },
    unknown: { ...videos, description: 'Videos that could not be asked for yet, where there are such; not summed.' },
    gone: {
      type: 'array',
      description: 'Videos that were removed or made private, where there are such: summed with their last numbers.',
      items: {
        type: 'object',
        required: ['id', 'since', 'asOf'],
        additionalProperties: false,
        properties: { id: video, ...gone },
      },
    },
    asOf: { ...moment, description: 'When YouTube was asked for the oldest of the numbers.' },
    stale: { type: 'boolean', description: 'Whether they are older than two intervals of refreshing.' },
  },
} as const

const growth = {
  type: 'object',
  required: ['impressions', 'engagements', 'score', 'since'],
  additionalProperties: false,
  properties: {
    impressions: { type: 'integer' },
    engagements: { type: 'integer' },
    score: { type: 'integer' },
    since: { ...moment, description: 'What it is told against: the first that is known, if no more is.' },
  },
} as const

const price = { type: 'number', minimum: 0 } as const

export const overviewRow = {
  ...collectionReply,
  title: 'Collection with its numbers',
  properties: {
    ...collectionReply.properties,
    stats: { ...sums, description: 'Not there as long as nothing is known.' },
    change: {
      type: 'object',
      description: 'By how much the sums have grown; not there as long as there is no history.',
      required: ['24h', '7d', '30d'],
      additionalProperties: false,
      properties: { '24h': growth, '7d': growth, '30d': growth },
    },
    costs: {
      type: 'object',
      description: 'Of a collection that has a cost: what a thousand views have cost, and an engagement.',
      additionalProperties: false,
      properties: { perThousandViews: price, perEngagement: price },
    },
  },
} as const

export const statsReply = {
  ...sums,
  title: 'Statistics',
  properties: {
    ...sums.properties,
    byVideo: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'views', 'likes', 'comments'],
        additionalProperties: false,
        properties: {
          id: video,
          views: count,
          likes: count,
          comments: count,
          dislikes: count,
          gone: { type: 'object', required: ['since', 'asOf'], additionalProperties: false, properties: gone },
        },
      },
    },
  },
} as const

export const historyReply = {
  type: 'object',
  required: ['points'],
  additionalProperties: false,
  properties: {
    points: {
      type: 'array',
      items: {
        type: 'object',
        required: ['at', 'impressions', 'engagements', 'score', 'videos'],
        additionalProperties: false,
        properties: { at: moment, ...totals },
      },
    },
  },
} as const
