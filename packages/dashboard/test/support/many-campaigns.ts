import type { TestStack } from './test-stack.ts'

const BATCH_SIZE = 200

export const toManyId = (i: number) => `campaign-${String(i).padStart(5, '0')}`

/** Creates campaigns of one video each; all together have 50 videos. Every third has the tag `third`. */
export async function createManyCampaigns({ stats }: TestStack, count: number): Promise<void> {
  for (let i = 0; i < count; i += BATCH_SIZE)
    await Promise.all(
      Array.from({ length: Math.min(BATCH_SIZE, count - i) }, (_, j) => {
        const number = i + j
        return stats.put(toManyId(number), {
          videos: [`video${String(number % 50).padStart(6, '0')}`],
          name: `Campaign ${number}${number % 9 === 0 ? ' with a long name that does not fit into one line of the list' : ''}`,
          tags: number % 3 === 0 ? ['third', 'spring', 'drinks'] : [],
        })
      }),
    )
}
