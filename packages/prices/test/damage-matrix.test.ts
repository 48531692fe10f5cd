import { runDamageMatrix, expectNoLoss, writeRound } from '@influencer-stats/runtime/testing/damage-matrix'
import { it } from 'vitest'
import { openPricesLevel } from '../src/storage/database.ts'

it.each(['closed', 'killed'] as const)(
  'never loses data unnoticed in a %s folder, for damage to any file',
  async (ending) => {
    expectNoLoss(
      await runDamageMatrix(
        { service: 'prices', open: (folder) => openPricesLevel(folder), write: writeRound },
        ending,
      ),
    )
  },
)
