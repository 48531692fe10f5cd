import { COUNT_NAMES } from '../core/video-numbers.ts'
import { collectionReply, video, videos } from './collection-schemas.ts'

const count = { type: 'integer', minimum: 0 } as const

const example = { impressions: 785_202, engagements: 46_848, score: 89_559, videos: 3 }
const exampleStats = {
  ...example,
  missing: [],
  asOf: '2026-11-20T12:00:00.000Z',
  stale: false,
  source: 'https://www.googleapis.com',
}

const totals = { impressions: count, engagements: count, score: count, videos: count } as const

const moment = { type: 'string', format: 'date-time' } as const

const removalTimes = {
  since: { ...moment, description: 'When YouTube was first asked for it in vain.' },
  asOf: { ...moment, description: 'When YouTube was asked for its last numbers, or earlier.' },
} as const

const countName = { type: 'string', enum: COUNT_NAMES } as const

const hidden = {
  hidden: {
    type: 'array',
    description: 'Counts that YouTube does not state, because the owner hides them: these are the last known, if any.',
    items: countName,
  },
  hiddenSince: { ...moment, description: 'Since when YouTube does not state them.' },
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
        properties: { id: video, ...removalTimes },
      },
    },
    hidden: {
      type: 'object',
      description:
        'For how many videos YouTube does not state a count, where there are such. The sums contain the last known values.',
      additionalProperties: false,
      properties: { views: count, likes: count, comments: count, dislikes: count },
    },
    asOf: { ...moment, description: 'When YouTube was asked for the oldest of the numbers.' },
    stale: { type: 'boolean', description: 'Whether they are older than two intervals of refreshing.' },
    source: { type: 'string', description: 'Origin of the numbers; `stand-in`: they are invented.' },
  },
} as const

const edit = {
  type: 'object',
  required: ['impressions', 'engagements', 'score', 'videos'],
  additionalProperties: false,
  properties: totals,
} as const

const edits = {
  added: { ...edit, description: 'What came with added videos and first numbers, if any did.' },
  removed: { ...edit, description: 'What went with removed videos, if any did.' },
} as const

const growth = {
  type: 'object',
  required: ['impressions', 'engagements', 'score', 'since', 'until'],
  additionalProperties: false,
  properties: {
    impressions: { type: 'integer' },
    engagements: { type: 'integer' },
    score: { type: 'integer' },
    since: { ...moment, description: 'The beginning of the window; later, where the sums at that time are unknown.' },
    until: { ...moment, description: 'The end of the window: when the sums were confirmed last.' },
    isWhole: { type: 'boolean', description: 'True if it is the growth of the whole window.' },
    young: { type: 'boolean', description: 'True if the collection began within the window.' },
    ...edits,
  },
} as const

const price = { type: 'number', minimum: 0 } as const

const exampleGrowth = {
  impressions: 1_200,
  engagements: 61,
  score: 100,
  since: '2026-11-19T12:00:00.000Z',
  until: exampleStats.asOf,
  isWhole: true,
}

export const overviewRow = {
  ...collectionReply,
  title: 'Collection with its numbers',
  examples: [
    {
      ...collectionReply.examples[0],
      stats: exampleStats,
      change: { '24h': exampleGrowth, '7d': exampleGrowth, '30d': exampleGrowth },
      costs: { perThousandViews: 15.92, perEngagement: 0.27 },
    },
  ],
  properties: {
    ...collectionReply.properties,
    stats: { ...sums, description: 'Not there as long as nothing is known.' },
    change: {
      type: 'object',
      description: 'By how much the sums have grown, edits apart; not there as long as there is no history.',
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
  examples: [exampleStats],
  properties: {
    ...sums.properties,
    byVideo: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id'],
        additionalProperties: false,
        properties: {
          id: video,
          views: count,
          likes: count,
          comments: count,
          dislikes: count,
          ...hidden,
          gone: { type: 'object', required: ['since', 'asOf'], additionalProperties: false, properties: removalTimes },
        },
      },
    },
  },
} as const

const videoResource = {
  type: 'object',
  title: 'Video',
  required: ['id', 'url'],
  additionalProperties: false,
  properties: {
    id: video,
    url: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    channel: { type: 'string' },
    channelId: { type: 'string' },
    publishedAt: moment,
    views: { ...count, description: 'As the other numbers not there as long as YouTube has given none.' },
    likes: count,
    comments: count,
    dislikes: count,
    ...hidden,
    gone: {
      type: 'object',
      description: 'Removed or made private: these are its last numbers.',
      required: ['since', 'asOf'],
      additionalProperties: false,
      properties: removalTimes,
    },
    missing: { type: 'boolean', description: 'YouTube has given no numbers yet, and gives none.' },
  },
} as const

const exampleVideo = {
  id: '-4lB5EKS5Uk',
  url: 'https://www.youtube.com/watch?v=-4lB5EKS5Uk',
  title: 'Street food #12',
  channel: 'Channel 7',
  channelId: 'UC0007000700070007000700',
  publishedAt: '2021-05-06T07:08:09.000Z',
  views: 261_734,
  likes: 14_237,
  comments: 451,
}

export const videosView = {
  type: 'object',
  title: 'Videos',
  examples: [{ videos: [exampleVideo], asOf: exampleStats.asOf, stale: false }],
  required: ['videos', 'asOf', 'stale'],
  additionalProperties: false,
  properties: {
    videos: { type: 'array', items: videoResource },
    asOf: sums.properties.asOf,
    stale: sums.properties.stale,
  },
} as const

export const exportReply = {
  ...overviewRow,
  title: 'Exported collection',
  examples: [{ ...collectionReply.examples[0], stats: exampleStats, videos: [exampleVideo] }],
  required: ['id', 'videos', 'version', 'stats'],
  properties: { ...overviewRow.properties, videos: { type: 'array', items: videoResource } },
} as const

export const historyReply = {
  type: 'object',
  title: 'History',
  examples: [{ points: [{ at: exampleStats.asOf, ...example }] }],
  required: ['points'],
  additionalProperties: false,
  properties: {
    points: {
      type: 'array',
      items: {
        type: 'object',
        required: ['at', 'impressions', 'engagements', 'score', 'videos'],
        additionalProperties: false,
        properties: { at: moment, ...totals, ...edits },
      },
    },
  },
} as const
