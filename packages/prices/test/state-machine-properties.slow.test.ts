import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyInBatches,
  createLargeSizes,
  createSingleSizes,
  logs,
  openOracle,
  toImportId,
  UNKNOWN_CODE,
} from './support/generated-logs.ts'
import { createPrice, toUuid } from './support/prices.ts'
import {
  listPrices,
  logEntries,
  openTestStateMachine,
  toEntries,
  toPosition,
  type WriteFault,
} from './support/state-machine.ts'

describe('the state machine', () => {
  it('gives the result of a standalone service, for any batches and restarts', async () => {
    const seen = new Set<unknown>()
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.infiniteStream(fc.integer({ min: 1, max: 20 })),
        fc.infiniteStream(fc.nat(5)),
        async (entries, cuts, kills) => {
          const alone = await openOracle()
          const answers: unknown[] = []
          for (const entry of entries) answers.push(await alone.apply(entry))
          for (const one of answers) seen.add(typeof one === 'object' ? 'imported' : one)
          const prices = await listPrices(alone.owner)
          const whole = await applyInBatches(await openTestStateMachine(), entries, createLargeSizes())
          expect(whole.outcomes).toEqual(answers)
          expect(await listPrices(whole.last.catalog)).toEqual(prices)
          const some = await applyInBatches(await openTestStateMachine(), entries, cuts, async (view) => {
            const kill = kills.next().value!
            return kill === 0 ? view.reopen() : kill === 1 ? view.reopen('settled') : view
          })
          expect(some.outcomes).toEqual(answers)
          expect(await listPrices(some.last.catalog)).toEqual(prices)
          await Promise.all([alone, whole.last, some.last].map((one) => one.close()))
        },
      ),
      { numRuns: 15 },
    )
    // The test reached all outcomes.
    for (const outcome of [
      true,
      false,
      'imported',
      'TYPE_CONFLICT',
      'CATALOG_FULL',
      'BAD_LINE',
      'IMPORT_RUNNING',
      'IMPORT_LOST',
    ])
      expect([outcome, seen.has(outcome)]).toEqual([outcome, true])
  })

  it('gives the same result if writes fail or the process dies between them', async () => {
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.infiniteStream(fc.integer({ min: 1, max: 20 })),
        fc.infiniteStream(
          fc.constantFrom<WriteFault | undefined>('lost', 'kept', ...Array.from({ length: 8 }, () => undefined)),
        ),
        fc.boolean(),
        async (entries, cuts, faults, dies) => {
          const plain = await applyInBatches(await openTestStateMachine(), entries, createSingleSizes())
          let isOn = false
          let failed = false
          const start = await openTestStateMachine(createTemporaryFolder(), () => {
            const fault = isOn ? faults.next().value : undefined
            failed ||= fault !== undefined
            return fault
          })
          isOn = true
          const { last, outcomes } = await applyInBatches(start, entries, cuts, async (view) => {
            if (!failed) return view
            isOn = failed = false
            const next = dies ? await view.reopen() : view
            if (!dies) await view.catalog.load()
            isOn = true
            return next
          })
          for (const [i, outcome] of outcomes.entries())
            if (outcome !== undefined && outcome !== UNKNOWN_CODE) expect([i, outcome]).toEqual([i, plain.outcomes[i]])
          expect(await listPrices(last.catalog)).toEqual(await listPrices(plain.last.catalog))
          await Promise.all([plain.last.close(), last.close()])
        },
      ),
      { numRuns: 20 },
    )
  })

  it('survives a snapshot and restore at any sequence, with an open import', async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.nat(), async (entries, cut) => {
        const one = await openTestStateMachine()
        const until = entries.length === 0 ? 0 : cut % entries.length
        await applyInBatches(one, entries.slice(0, until), createLargeSizes())
        const other = await openTestStateMachine()
        await other.stateMachine.apply(
          toEntries([logEntries.put(createPrice({ id: toUuid(77) })), logEntries.begin(toImportId(9))]),
          toPosition(2),
        )
        await other.stateMachine.restore(one.stateMachine.snapshot() as AsyncIterable<Buffer>)
        expect([other.stateMachine.getPosition(), other.catalog.meta.log?.open]).toEqual([
          one.stateMachine.getPosition(),
          one.catalog.meta.log?.open,
        ])
        expect(await listPrices(other.catalog)).toEqual(await listPrices(one.catalog))
        // Restored data survives a power cut.
        const again = await other.reopen()
        const [first, second] = [
          await applyInBatches(one, entries, createLargeSizes()),
          await applyInBatches(again, entries, createLargeSizes()),
        ]
        expect(second.outcomes.slice(until)).toEqual(first.outcomes.slice(until))
        expect(await listPrices(second.last.catalog)).toEqual(await listPrices(first.last.catalog))
        await Promise.all([first.last.close(), second.last.close()])
      }),
      { numRuns: 15 },
    )
  })
})
