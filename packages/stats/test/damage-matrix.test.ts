import { runDamageMatrix, expectNoLoss, writeRound } from '@influencer-stats/runtime/testing/damage-matrix'
import { it } from 'vitest'
import { openStatsLevel } from '../src/state/level-database.ts'

it.each(['closed', 'killed'] as const)(
  'loses no data unnoticed from a folder that was %s, whichever file is damaged',
  async (ending) => {
    expectNoLoss(
      await runDamageMatrix(
        { service: 'stats', open: (folder) => openStatsLevel({ folder }), write: writeRound },
        ending,
      ),
    )
  },
)
