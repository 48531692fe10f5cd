import { closedObject } from '@influencer-stats/runtime/closed-object'
import { SUMS_QUALITIES } from '../../core/history/results.ts'
import { edits, moment, totals } from '../stats-schemas.ts'

const seconds = { type: 'integer', minimum: 0 } as const

const end = closedObject(
  {
    at: { ...moment, description: 'Time of the sums: that of the range, except with `first` and `last`.' },
    ...totals,
    quality: {
      type: 'string',
      enum: SUMS_QUALITIES,
      description:
        '`exact`: numbers confirm the sums at that time. `interpolated`: they lie between two known sums. `first`: they are the ' +
        'first known ones, after that time. `last`: they are the last known ones, before it.',
    },
    gap: { ...seconds, description: 'Length of the time without known sums at this end (s).' },
    age: { ...seconds, description: 'Age of the oldest of the numbers when their sums were stored (s).' },
  },
  { required: ['at', 'impressions', 'engagements', 'score', 'videos', 'quality', 'gap', 'age'] },
)

const growth = closedObject(
  { impressions: { type: 'integer' }, engagements: { type: 'integer' }, score: { type: 'integer' }, ...edits },
  {
    description: 'Growth without edits. This, `start` and `end` are absent if no sums are known within the range.',
    required: ['impressions', 'engagements', 'score'],
  },
)

export const resultsReply = closedObject(
  {
    from: { ...moment, description: 'Beginning of the range.' },
    to: { ...moment, description: 'End of the range, exclusive.' },
    zone: { type: 'string', description: 'Time zone of the days.' },
    state: {
      type: 'string',
      enum: ['upcoming', 'running', 'ended'],
      description: 'Whether the range lies in the future, contains the present, or is over.',
    },
    growth,
    start: end,
    end,
  },
  {
    title: 'Results',
    required: ['from', 'to', 'zone', 'state'],
    examples: [
      {
        from: '2026-02-28T23:00:00.000Z',
        to: '2026-05-31T22:00:00.000Z',
        zone: 'Europe/Berlin',
        state: 'ended',
        growth: { impressions: 412_300, engagements: 20_114, score: 38_950 },
        start: {
          at: '2026-02-28T23:00:00.000Z',
          impressions: 370_902,
          engagements: 26_734,
          score: 50_609,
          videos: 3,
          quality: 'exact',
          gap: 0,
          age: 20,
        },
        end: {
          at: '2026-05-31T22:00:00.000Z',
          impressions: 783_202,
          engagements: 46_848,
          score: 89_559,
          videos: 3,
          quality: 'interpolated',
          gap: 3_540,
          age: 20,
        },
      },
    ],
  },
)
