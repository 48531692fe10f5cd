import { createHistoryArbitrary } from '@influencer-stats/kv/testing/histories'
import { isLinearizable } from '@influencer-stats/kv/testing/linearizable'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hasGo, checkWithPorcupine } from '../src/cluster/porcupine.ts'

const HISTORIES = 4_000

// Without Go it is skipped, not passed.
it.skipIf(!hasGo)('porcupine and our own checker agree on valid and invalid histories', async () => {
  const histories = [4, 7, 10, 14].flatMap((maxLength) => fc.sample(createHistoryArbitrary(maxLength), HISTORIES / 4))
  const own = histories.map((history) => isLinearizable(history))
  const said = await checkWithPorcupine(histories)
  const apart = histories.filter((_, i) => said[i] !== (own[i] ? 'Ok' : 'Illegal'))
  expect(apart.slice(0, 3)).toEqual([])
  // Both results occurred.
  const right = own.filter(Boolean).length
  expect(right).toBeGreaterThan(HISTORIES / 20)
  expect(right).toBeLessThan((HISTORIES * 19) / 20)
})
