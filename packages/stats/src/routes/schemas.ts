import { COLLECTION_ID, MAX_VIDEOS, VIDEO_ID } from '../core/ids.ts'

const id = { type: 'string', pattern: COLLECTION_ID, description: 'Chosen by whoever makes the collection.' } as const
const video = { type: 'string', pattern: VIDEO_ID, description: "YouTube's id of the video." } as const

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

export const collectionBody = {
  type: 'object',
  required: ['videos'],
  additionalProperties: false,
  properties: { videos },
} as const

export const collectionReply = {
  type: 'object',
  required: ['id', 'videos'],
  additionalProperties: false,
  properties: { id, videos },
} as const

const count = { type: 'integer', minimum: 0 } as const

const totals = { impressions: count, engagements: count, score: count, videos: count } as const

export const statsReply = {
  type: 'object',
  required: ['impressions', 'engagements', 'score', 'videos', 'missing', 'asOf', 'stale'],
  additionalProperties: false,
  properties: {
    ...totals,
    missing: { ...videos, description: 'Videos that YouTube does not return, or returns without statistics.' },
    unknown: { ...videos, description: 'Videos that could not be asked for yet, where there are such; not summed.' },
    asOf: { type: 'string', format: 'date-time', description: 'When YouTube was asked for the oldest of the numbers.' },
    stale: { type: 'boolean', description: 'Whether they are older than two intervals of refreshing.' },
    byVideo: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'views', 'likes', 'comments'],
        additionalProperties: false,
        properties: { id: video, views: count, likes: count, comments: count, dislikes: count },
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
        properties: { at: { type: 'string', format: 'date-time' }, ...totals },
      },
    },
  },
} as const
