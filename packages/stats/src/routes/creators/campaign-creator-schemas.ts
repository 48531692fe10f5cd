import { closedObject } from '@influencer-stats/runtime/closed-object'
import { count, edit, price } from '../stats-schemas.ts'

const EXAMPLE_ID = 'UC0007000700070007000700'

export const id = {
  type: 'string',
  minLength: 1,
  maxLength: 200,
  description: 'Id of the YouTube channel; for a person without videos, the name in the fee.',
  examples: [EXAMPLE_ID],
} as const

export const channel = {
  id,
  title: { type: 'string', description: 'Title of the channel.' },
  handle: { type: 'string' },
  thumbnail: { type: 'string', description: 'URL of the picture of the channel.' },
  subscribers: { ...count, description: 'Rounded by YouTube. Absent if it is unknown or hidden.' },
  hidesSubscribers: { type: 'boolean', description: 'True if the channel hides its subscribers.' },
} as const

const ratio = { type: 'number', minimum: 0 } as const

export const numbers = {
  stats: { ...edit, description: 'Sums over the distinct videos.' },
  rate: { ...ratio, description: 'Engagements divided by views. Absent without views.' },
} as const

export const costs = closedObject(
  { perThousandViews: price, perEngagement: price },
  { description: 'The fee per thousand views and per engagement. Absent without a fee.' },
)

export const ofCampaign = {
  share: { ...ratio, description: 'Share of the views of the collection. Absent without views.' },
  fee: { ...price, description: 'In the currency of the collection.' },
  costs,
} as const

export const exampleStats = { impressions: 785_202, engagements: 46_848, score: 89_559, videos: 3 }
export const exampleChannel = {
  id: EXAMPLE_ID,
  title: 'Channel 7',
  handle: '@channel7',
  subscribers: 12_300,
  stats: exampleStats,
  rate: 0.0597,
}
export const exampleFee = { fee: 900, costs: { perThousandViews: 1.15, perEngagement: 0.02 } }

/** Properties that `include=creators` adds to a collection. */
export const campaignCreators = {
  creators: {
    type: 'array',
    description: 'Creators of the collection, those with the most views first. Only with `include=creators`.',
    items: closedObject(
      { ...channel, ...numbers, ...ofCampaign },
      {
        title: 'Creator of a collection',
        required: ['id', 'stats'],
        examples: [{ ...exampleChannel, share: 1, ...exampleFee }],
      },
    ),
  },
  unattributed: {
    ...edit,
    description:
      'Sums of the videos whose channel is unknown. Only with `include=creators`; absent without such videos.',
  },
} as const
