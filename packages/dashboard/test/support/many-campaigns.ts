import { sendPatiently } from '@influencer-stats/runtime/testing/patient-requests'
import type { TestStack } from './test-stack.ts'

export const toManyId = (i: number) => `campaign-${String(i).padStart(5, '0')}`

/** Creates campaigns of one video each; all together have 50 videos. Every third has the tag `third`. */
export const createManyCampaigns = ({ stats }: TestStack, count: number): Promise<void> =>
  sendPatiently(Array(count).keys(), (number) =>
    stats.put(toManyId(number), {
      videos: [`video${String(number % 50).padStart(6, '0')}`],
      name: `Campaign ${number}${number % 9 === 0 ? ' with a long name that does not fit into one line of the list' : ''}`,
      tags: number % 3 === 0 ? ['third', 'spring', 'drinks'] : [],
    }),
  )
