import { closedObject } from '@influencer-stats/runtime/closed-object'
import { describePattern } from '@influencer-stats/runtime/validation-errors'
import { NAME_PATTERN } from '@influencer-stats/runtime/validation'
import {
  CURRENCIES,
  MAX_COST,
  MAX_FEES,
  MAX_NAME_LENGTH,
  MAX_SOURCES,
  MAX_SOURCE_WORDS,
  MAX_TAG_LENGTH,
  MAX_TAGS,
} from '../core/campaign.ts'
import { COLLECTION_ID_PATTERN, MAX_VIDEOS, VIDEO_ID_PATTERN } from '../core/ids.ts'
import { VIDEO_PATTERN } from '../core/video-links.ts'

const ID_FORM = 'an id of 1 to 128 letters, digits and . _ ~ - such as spring'

export const id = {
  type: 'string',
  pattern: describePattern(COLLECTION_ID_PATTERN, ID_FORM),
  description: 'Id that the client chooses.',
  examples: ['99757a95-f758-499f-a170-bea93b2d8bcf'],
} as const
export const video = {
  type: 'string',
  pattern: describePattern(VIDEO_ID_PATTERN, 'the id of a YouTube video such as -4lB5EKS5Uk'),
  description: 'YouTube id of the video.',
  examples: ['-4lB5EKS5Uk'],
} as const

/**
 * Id other than `.` and `..`, which clients and proxies resolve as path segments. Older versions accepted them, so only a
 * PUT refuses them.
 */
const newId = {
  ...id,
  pattern: describePattern(COLLECTION_ID_PATTERN.replace('^', '^(?!\\.{1,2}$)'), `${ID_FORM}, other than . and ..`),
} as const

export const newCollectionParams = { type: 'object', required: ['id'], properties: { id: newId } } as const
export const collectionParams = { type: 'object', required: ['id'], properties: { id } } as const
export const videoParams = { type: 'object', required: ['id', 'video'], properties: { id, video } } as const

export const videos = { type: 'array', maxItems: MAX_VIDEOS, items: video } as const

const links = {
  type: 'array',
  maxItems: MAX_VIDEOS,
  items: {
    type: 'string',
    pattern: describePattern(VIDEO_PATTERN, 'the id of a YouTube video such as -4lB5EKS5Uk, or a link to one'),
  },
  description:
    'Ids of videos, or links to them; the ids are stored. Links of YouTube Studio, redirects to a video and punctuation ' +
    'around a link are accepted in addition to the pattern.',
} as const

/** Condition headers of a change. */
export const conditions = {
  type: 'object',
  properties: {
    'if-match': {
      type: 'string',
      description: 'ETags, or `*`: the collection changes only if it has one of these versions, otherwise 412.',
    },
    'if-none-match': {
      type: 'string',
      description: '`*`: the collection is created only if it does not exist, otherwise 412.',
    },
  },
} as const

/** Condition headers of a read. */
export const readConditions = {
  type: 'object',
  properties: {
    'if-match': { type: 'string', description: 'ETags, or `*`: 412 if the collection has another version.' },
    'if-none-match': { type: 'string', description: 'ETags: 304 if the collection has one of these versions.' },
  },
} as const

/** Condition header of a change of one video. */
export const matchCondition = {
  type: 'object',
  properties: { 'if-match': conditions.properties['if-match'] },
} as const

const name = { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH } as const
const tags = {
  type: 'array',
  maxItems: MAX_TAGS,
  items: { type: 'string', minLength: 1, maxLength: MAX_TAG_LENGTH },
} as const
/** Name and tags in requests. Older versions accepted any text, so replies may contain it. */
const newName = { ...name, pattern: NAME_PATTERN } as const
export const newTags = { ...tags, items: { ...tags.items, pattern: NAME_PATTERN } } as const
const day = { type: 'string', format: 'date' } as const
const from = { ...day, description: 'First day of the campaign.' } as const
const to = { ...day, description: 'Last day of the campaign.' } as const
const cost = { type: 'number', minimum: 0, maximum: MAX_COST, description: 'Cost of the campaign.' } as const
const currency = { type: 'string', enum: CURRENCIES, description: 'ISO 4217 code.' } as const

const creator = {
  ...newName,
  description: 'Id of a YouTube channel, or a name.',
  examples: ['UCuAXFkgsw1L7xaCfnd5JJOw'],
} as const
const fees = {
  type: 'array',
  maxItems: MAX_FEES,
  description: 'Fees in `currency`, at most one for each creator. A collection has either `fees` or `cost`.',
  items: closedObject(
    { creator, amount: { ...cost, description: 'Fee.' } },
    { title: 'Fee', required: ['creator', 'amount'] },
  ),
} as const
const sourceId = {
  type: 'string',
  pattern: describePattern(
    '^[A-Za-z0-9_-]{2,64}$',
    'the id of a channel or a playlist such as UCuAXFkgsw1L7xaCfnd5JJOw',
  ),
  examples: ['UCuAXFkgsw1L7xaCfnd5JJOw'],
} as const
export const sourceFields = {
  type: { type: 'string', enum: ['channel', 'playlist'] },
  id: sourceId,
  contains: {
    type: 'array',
    maxItems: MAX_SOURCE_WORDS,
    description: 'Only uploads with one of these words, phrases or #tags in the title or the description.',
    items: { type: 'string', minLength: 1, maxLength: 100, pattern: NAME_PATTERN },
  },
  title: { ...newName, description: 'Title to show. By default that of YouTube.' },
} as const
const sourceList = {
  type: 'array',
  maxItems: MAX_SOURCES,
  description: 'Channels and playlists whose uploads the collection follows.',
} as const
const sources = {
  ...sourceList,
  items: closedObject(
    { ...sourceFields, title: { type: 'string' } },
    { title: 'Campaign source', required: ['type', 'id'] },
  ),
} as const
/** Sources in requests: the service finds their ids and titles. */
const newSources = {
  ...sourceList,
  items: closedObject(
    {
      ...sourceFields,
      id: {
        type: 'string',
        minLength: 2,
        maxLength: 8_192,
        description:
          'Id, handle or link of a channel or a playlist; the id is stored. A look-up costs a unit of quota.',
        examples: ['UCuAXFkgsw1L7xaCfnd5JJOw', '@GoogleDevelopers'],
      },
    },
    { title: 'New campaign source', required: ['id'] },
  ),
} as const
const archived = { type: 'boolean', description: 'True if the collection is in the archive.' } as const
export const followed = {
  type: 'object',
  description: 'Videos that sources added: the id of the source by the id of the video. Absent if there are none.',
  propertyNames: { pattern: VIDEO_ID_PATTERN },
  additionalProperties: { type: 'string' },
  examples: [{ '-4lB5EKS5Uk': 'UCuAXFkgsw1L7xaCfnd5JJOw' }],
} as const
export const refused = {
  type: 'array',
  description: 'Uploads of sources that were removed: they are never added again. Absent if there are none.',
  items: video,
} as const

const orNull = <const Schema extends object>(schema: Schema) => ({ anyOf: [schema, { type: 'null' }] }) as const

const example = {
  name: 'Spring, sparkling water',
  tags: ['spring', 'drinks'],
  from: '2026-03-01',
  to: '2026-05-31',
  cost: 12_500,
  currency: 'EUR',
}

export const collectionBody = closedObject(
  { videos: links, name: newName, tags: newTags, from, to, cost, fees, currency, sources: newSources, archived },
  {
    title: 'New collection',
    required: ['videos'],
    examples: [
      { videos: ['-4lB5EKS5Uk', '-jlLkTtgWUk'] },
      { videos: ['https://www.youtube.com/watch?v=-4lB5EKS5Uk&t=10s', 'https://youtu.be/1FEFpk-uIYo'], ...example },
    ],
  },
)

/** `null` removes a field. */
export const collectionPatch = closedObject(
  {
    videos: links,
    name: orNull(newName),
    tags: orNull(newTags),
    from: orNull(from),
    to: orNull(to),
    cost: orNull(cost),
    fees: orNull(fees),
    currency: orNull(currency),
    sources: orNull(newSources),
    archived: orNull(archived),
  },
  { title: 'Change of a collection', examples: [{ name: 'Spring', cost: null }] },
)

export const version = {
  type: 'string',
  description: 'Version, which differs after every change: the `ETag` without its quotation marks.',
  examples: ['1764547200123456'],
} as const
const created = {
  type: 'string',
  format: 'date-time',
  description:
    'Creation time. It does not change with the collection, and differs if the collection is deleted and created again. ' +
    'Absent for collections that version 0.2 created.',
  examples: ['2026-11-20T12:00:00.123456Z'],
} as const

export const videosReply = closedObject(
  { videos, version },
  {
    examples: [{ videos: ['-4lB5EKS5Uk', '1FEFpk-uIYo'], version: version.examples[0] }],
    required: ['videos', 'version'],
  },
)

export const collectionReply = closedObject(
  {
    id,
    videos,
    name,
    tags,
    from,
    to,
    cost,
    fees,
    currency: { type: 'string' },
    sources,
    archived,
    followed,
    refused,
    version,
    created,
  },
  {
    title: 'Collection',
    required: ['id', 'videos', 'version'],
    examples: [
      {
        id: id.examples[0],
        videos: ['-4lB5EKS5Uk', '1FEFpk-uIYo'],
        ...example,
        version: version.examples[0],
        created: created.examples[0],
      },
    ],
  },
)
