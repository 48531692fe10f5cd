import { damageMatrix, expectNoLoss, putRound } from '@influencer-stats/runtime/testing/damage-matrix'
import { it } from 'vitest'
import { openUsedLevelOf } from './support/level.ts'

/** True for the service's own key, in which each start reserves revisions. */
const isOwn = (key: Buffer) => key.length === 0

it.each(['closed', 'killed'] as const)(
  'loses nothing in silence of a folder that was %s, whatever file is damaged',
  async (ending) => {
    expectNoLoss(await damageMatrix({ service: 'kv', open: openUsedLevelOf, write: putRound, isOwn }, ending))
  },
)
