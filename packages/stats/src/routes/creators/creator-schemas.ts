import { closedObject } from '@influencer-stats/runtime/closed-object'
import { CREATOR_SORTS } from '../../campaigns/creators/creator-selection.ts'
import { MAX_CREATOR_VIDEOS } from '../../campaigns/creators/creator-table.ts'
import { collectionReply } from '../collection-schemas.ts'
import { MAX_QUERY_LENGTH, pageQuery } from '../page-query.ts'
import { count, moment, price, videoResource } from '../stats-schemas.ts'
import {
  channel,
  costs,
  exampleChannel,
  exampleFee,
  exampleStats,
  id,
  numbers,
  ofCampaign,
} from './campaign-creator-schemas.ts'

export const creatorParams = {
  type: 'object',
  required: ['id'],
  properties: { id },
} as const

export const creatorsQuery = closedObject({
  ...pageQuery,
  sort: {
    type: 'string',
    enum: CREATOR_SORTS,
    default: '-impressions',
    description: 'Order; with `-` descending. Creators without the value are last.',
  },
  q: {
    type: 'string',
    maxLength: MAX_QUERY_LENGTH,
    description: 'Words that the id, the title or the handle contain; case-insensitive.',
  },
})

const summary = {
  ...channel,
  ...numbers,
  campaignCount: { ...count, description: 'Number of collections.' },
  fees: {
    type: 'array',
    description: 'Sum of the fees in each currency. Absent without fees.',
    items: closedObject({ currency: { type: 'string' }, amount: price }, { required: ['amount'] }),
  },
  costs: {
    ...costs,
    description:
      'The fees per thousand views and per engagement of the distinct videos in collections with a fee. Absent with ' +
      'several currencies.',
  },
  asOf: { ...moment, description: 'Time of the request for the oldest of the numbers. Absent without numbers.' },
  stale: { type: 'boolean', description: 'True if the numbers are older than two refresh intervals.' },
} as const

const exampleSummary = {
  ...exampleChannel,
  campaignCount: 1,
  fees: [{ currency: 'EUR', amount: 900 }],
  costs: exampleFee.costs,
  asOf: '2026-11-20T12:00:00.000Z',
  stale: false,
}

const required = ['id', 'stats', 'campaignCount'] as const

export const creatorsReply = closedObject(
  {
    creators: { type: 'array', items: closedObject(summary, { title: 'Creator', required }) },
    total: { ...count, description: 'Number of creators that match.' },
    next: { type: 'string', description: 'Cursor for `after` of the next page, which may be empty.' },
  },
  { title: 'Creators', required: ['creators', 'total'], examples: [{ creators: [exampleSummary], total: 1 }] },
)

const { id: collectionId, name } = collectionReply.properties

export const creatorReply = closedObject(
  {
    ...summary,
    campaigns: {
      type: 'array',
      description: 'Collections with videos of the creator or with a fee, those with the most views first.',
      items: closedObject(
        { id: collectionId, name, currency: { type: 'string' }, ...numbers, ...ofCampaign },
        { title: 'Collection of a creator', required: ['id', 'stats'] },
      ),
    },
    videos: {
      type: 'array',
      description: `The videos with the most views, at most ${MAX_CREATOR_VIDEOS}.`,
      items: {
        ...videoResource,
        title: 'Video of a creator',
        required: [...videoResource.required, 'campaigns'],
        properties: {
          ...videoResource.properties,
          campaigns: { type: 'array', description: 'Ids of the collections that contain it.', items: collectionId },
        },
      },
    },
    history: {
      type: 'array',
      description: 'Counts of the whole channel over time. An unknown or hidden count is absent.',
      items: closedObject({ at: moment, subscribers: count, views: count, videos: count }, { required: ['at'] }),
    },
  },
  {
    title: 'Creator with its collections and videos',
    required: [...required, 'campaigns', 'videos', 'history'],
    examples: [
      {
        ...exampleSummary,
        campaigns: [
          { id: collectionId.examples[0], currency: 'EUR', stats: exampleStats, rate: 0.0597, share: 1, ...exampleFee },
        ],
        videos: [
          {
            id: '-4lB5EKS5Uk',
            url: 'https://www.youtube.com/watch?v=-4lB5EKS5Uk',
            title: 'Street food #12',
            views: 261_734,
            campaigns: [collectionId.examples[0]],
          },
        ],
        history: [{ at: '2026-11-20T12:00:00.000Z', subscribers: 12_300, views: 4_000_000, videos: 120 }],
      },
    ],
  },
)
