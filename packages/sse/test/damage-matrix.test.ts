import { runDamageMatrix, expectNoLoss, writeRound } from '@influencer-stats/runtime/testing/damage-matrix'
import { it } from 'vitest'
import { createLevelHistory } from '../src/history/level-history.ts'

const options = { count: 3, bytes: 1_000, age: 3_600_000, topics: 2, total: 10_000 }

async function open(folder: string) {
  const { level } = await createLevelHistory({ ...options, folder })
  return level!
}

/** True for the service's own key, to which each start writes the first of its ids. */
const isOwn = (key: Buffer) => key.toString() === 'meta'

it.each(['closed', 'killed'] as const)(
  'reports every loss of a folder that was %s, with damage in any file',
  async (ending) => {
    expectNoLoss(await runDamageMatrix({ service: 'sse', open, write: writeRound, isOwn }, ending))
  },
)
