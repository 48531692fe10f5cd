import { CURRENCIES, MAX_COST, MAX_NAME, MAX_TAG, MAX_TAGS } from '../core/campaign.ts'
import { COLLECTION_ID, MAX_VIDEOS, VIDEO_ID } from '../core/ids.ts'
import { VIDEO } from '../core/video-links.ts'

const id = {
  type: 'string',
  pattern: COLLECTION_ID,
  description: 'Chosen by whoever makes the collection.',
  examples: ['99757a95-f758-499f-a170-bea93b2d8bcf'],
} as const
export const video = {
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

export const videos = { type: 'array', maxItems: MAX_VIDEOS, items: video } as const

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
  examples: [{ videos: ['-4lB5EKS5Uk', '1FEFpk-uIYo'] }],
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
