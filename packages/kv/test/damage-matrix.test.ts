import { runDamageMatrix, expectNoLoss, writeRound } from '@influencer-stats/runtime/testing/damage-matrix'
import { it } from 'vitest'
import { openUsedTestLevel } from './support/level.ts'

/** True for the service's own key, in which each start reserves revisions. */
const isOwn = (key: Buffer) => key.length === 0

it.each(['closed', 'killed'] as const)(
  'never loses data unnoticed in a %s folder, for damage to any file',
  async (ending) => {
    expectNoLoss(await runDamageMatrix({ service: 'kv', open: openUsedTestLevel, write: writeRound, isOwn }, ending))
  },
)
