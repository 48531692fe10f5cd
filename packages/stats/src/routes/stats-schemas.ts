import { closedObject } from '@influencer-stats/runtime/closed-object'
import { LIVE_STATES } from '../core/video-details.ts'
import { COUNT_NAMES } from '../core/video-numbers.ts'
import { collectionReply, video, videos } from './collection-schemas.ts'
import { postReply, reportedSchema } from './posts/post-schemas.ts'

export const count = { type: 'integer', minimum: 0 } as const

const example = { impressions: 785_202, engagements: 46_848, score: 89_559, videos: 3 }
const exampleStats = {
  ...example,
  missing: [],
  asOf: '2026-11-20T12:00:00.000Z',
  stale: false,
  source: 'https://www.googleapis.com',
}

export const totals = { impressions: count, engagements: count, score: count, videos: count } as const

export const moment = { type: 'string', format: 'date-time' } as const

const removalTimes = {
  since: { ...moment, description: 'Time of the first request to which YouTube did not return the video.' },
  asOf: { ...moment, description: 'Time of the last request that returned these numbers, or an earlier time.' },
} as const

const removal = closedObject(removalTimes, { required: ['since', 'asOf'] })

const counts = { views: count, likes: count, comments: count, dislikes: count } as const
const countName = { type: 'string', enum: COUNT_NAMES } as const

const hidden = {
  hidden: {
    type: 'array',
    description:
      'Counts that YouTube does not state, because the owner hides them. The values are the last known ones, if any.',
    items: countName,
  },
  hiddenSince: { ...moment, description: 'Time since which YouTube does not state at least one count.' },
} as const

const sums = closedObject(
  {
    ...totals,
    missing: { ...videos, description: 'Requested videos for which YouTube never returned numbers.' },
    unknown: {
      ...videos,
      description: 'Videos for which no request has succeeded yet. Not in the sums. Absent if there are none.',
    },
    gone: {
      type: 'array',
      description:
        'Videos that were removed or made private, summed with their last numbers. Absent if there are none.',
      items: closedObject({ id: video, ...removalTimes }, { required: ['id', 'since', 'asOf'] }),
    },
    hidden: closedObject(counts, {
      description:
        'Number of videos whose owner hides this count, for each count. The sums contain the last known values. Absent if there are none.',
    }),
    asOf: { ...moment, description: 'Time of the request for the oldest of the numbers.' },
    stale: { type: 'boolean', description: 'True if the numbers are older than two refresh intervals.' },
    source: { type: 'string', description: 'Origin of the numbers. The numbers of `stand-in` are invented.' },
    reported: reportedSchema,
  },
  { title: 'Sums', required: ['impressions', 'engagements', 'score', 'videos', 'missing', 'asOf', 'stale'] },
)

export const edit = closedObject(totals, { required: ['impressions', 'engagements', 'score', 'videos'] })

export const edits = {
  added: {
    ...edit,
    description:
      'Increase that is not growth: videos added to the collection, and counts that YouTube states for the first time, or ' +
      'again after more than two hours. Absent if there is none.',
  },
  removed: {
    ...edit,
    description:
      'Decrease that is not growth: videos removed from the collection, and counts that are lower when YouTube states them ' +
      'again after more than two hours. Absent if there is none.',
  },
} as const

const growth = closedObject(
  {
    impressions: { type: 'integer' },
    engagements: { type: 'integer' },
    score: { type: 'integer' },
    since: {
      ...moment,
      description:
        'Beginning of the window, or the first later time with known sums if they are unknown at the beginning.',
    },
    until: { ...moment, description: 'End of the window: the time at which the sums were last confirmed.' },
    isWhole: { type: 'boolean', description: 'True if the growth covers the whole window.' },
    young: { type: 'boolean', description: 'True if the collection began within the window.' },
    ...edits,
  },
  { required: ['impressions', 'engagements', 'score', 'since', 'until'] },
)

export const price = { type: 'number', minimum: 0 } as const

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
    stats: { ...sums, description: 'Absent if no numbers are known.' },
    change: closedObject(
      { '24h': growth, '7d': growth, '30d': growth },
      {
        description:
          'Growth of the sums, without the changes that `added` and `removed` state. Absent if there is no history.',
        required: ['24h', '7d', '30d'],
      },
    ),
    costs: closedObject(
      { perThousandViews: price, perEngagement: price },
      { description: 'Cost per thousand views and per engagement. Only for collections with a cost.' },
    ),
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
      items: closedObject({ id: video, ...counts, ...hidden, gone: removal }, { required: ['id'] }),
    },
  },
} as const

export const videoResource = closedObject(
  {
    id: video,
    url: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    channel: { type: 'string' },
    channelId: { type: 'string' },
    publishedAt: moment,
    duration: { type: 'integer', minimum: 1, description: 'Length in seconds. Absent during a live broadcast.' },
    live: { type: 'string', enum: LIVE_STATES, description: 'State of a live broadcast; `none` for other videos.' },
    isShort: {
      type: 'boolean',
      description: 'True for a video of up to 60 s. The API of YouTube does not state which videos are Shorts.',
    },
    ...counts,
    views: { ...count, description: 'This and the other counts are absent if YouTube never stated them.' },
    ...hidden,
    gone: { ...removal, description: 'The video was removed or made private. The numbers are its last ones.' },
    missing: { type: 'boolean', description: 'True if the video was requested, but YouTube never returned numbers.' },
  },
  { title: 'Video', required: ['id', 'url'] },
)

const exampleVideo = {
  id: '-4lB5EKS5Uk',
  url: 'https://www.youtube.com/watch?v=-4lB5EKS5Uk',
  title: 'Street food #12',
  channel: 'Channel 7',
  channelId: 'UC0007000700070007000700',
  publishedAt: '2021-05-06T07:08:09.000Z',
  duration: 754,
  live: 'none',
  views: 261_734,
  likes: 14_237,
  comments: 451,
}

export const videosView = closedObject(
  {
    videos: { type: 'array', items: videoResource },
    asOf: sums.properties.asOf,
    stale: sums.properties.stale,
  },
  {
    title: 'Videos',
    examples: [{ videos: [exampleVideo], asOf: exampleStats.asOf, stale: false }],
    required: ['videos', 'asOf', 'stale'],
  },
)

export const exportReply = {
  ...overviewRow,
  title: 'Exported collection',
  examples: [{ ...collectionReply.examples[0], stats: exampleStats, videos: [exampleVideo] }],
  required: ['id', 'videos', 'version', 'stats'],
  properties: {
    ...overviewRow.properties,
    stats: { ...sums, description: 'Sums of the collection.' },
    videos: { type: 'array', items: videoResource },
    posts: { type: 'array', items: postReply, description: 'Absent without posts.' },
  },
} as const

const historyPoint = closedObject(
  { at: moment, ...totals, ...edits },
  { required: ['at', 'impressions', 'engagements', 'score', 'videos'] },
)
export const historyReply = closedObject(
  { points: { type: 'array', items: historyPoint } },
  { title: 'History', examples: [{ points: [{ at: exampleStats.asOf, ...example }] }], required: ['points'] },
)
