import { damageMatrix, expectNoLoss, putRound } from '@influencer-stats/runtime/testing/damage-matrix'
import { it } from 'vitest'
import { openLevelOf } from './support/level.ts'

it.each(['closed', 'killed'] as const)(
  'loses nothing in silence of a folder that was %s, whatever file is damaged',
  async (ending) => {
    expectNoLoss(await damageMatrix({ service: 'kv', open: openLevelOf, write: putRound }, ending))
  },
)
