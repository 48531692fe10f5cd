import { parseWireError, type Problem, type WireError } from '@influencer-stats/runtime/problems'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '@influencer-stats/log/log'
import { CatalogDraft } from '../src/core/catalog-draft.ts'
import * as kinds from '../src/catalog/log-entries.ts'
import type { Price } from '../src/core/price.ts'
import { Terms } from '../src/core/terms.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import { errors } from '../src/errors.ts'
import { LOG_IMPORT_TIMEOUT_MS, type PricesOutcome } from '../src/catalog/prices-state-machine.ts'
import { META_KEY, STAGED_RANGE } from '../src/storage/page-store.ts'
import { PriceLineReader } from '../src/catalog/price-line-reader.ts'
import {
  toEntries,
  logEntries,
  MAX_PRICES,
  openTestCatalog,
  openTestStateMachine,
  toPosition,
  listPrices,
  type WriteFault,
  type TestStateMachine,
} from './support/state-machine.ts'
import { createPrice, toUuid } from './support/prices.ts'

/** An import's id: 16 digits. */
const importId = (number: number) => String(number).padStart(16, '0')
const UNKNOWN_CODE = 'OUTCOME_UNKNOWN'

/** Returns an outcome in a comparable form. */
function toComparable(outcome: PricesOutcome): unknown {
  if (typeof outcome === 'boolean' || 'imported' in outcome) return outcome
  return (parseWireError(outcome as WireError) as Problem).code
}

/** A standalone service that executes the requests of entries one after the other. */
async function openStandalone() {
  const level = await openPricesLevel(createTemporaryFolder())
  const catalog = await openTestCatalog(level)
  let open: { id: string; reader: PriceLineReader; pieces: number; mayBeEmpty: boolean; at: number } | undefined

  async function apply({ kind, body, at }: LogEntry): Promise<unknown> {
    const decoded =
      kind === kinds.IMPORT_PIECE
        ? kinds.decodePiece(body)
        : kinds.decodeText<any>(body.length > 0 ? body : Buffer.from('""'))
    const isLate = open && at - open.at >= LOG_IMPORT_TIMEOUT_MS
    if (kind === kinds.PUT) return catalog.put({ ...decoded.price, id: decoded.key })
    if (kind === kinds.REMOVE) return catalog.remove(decoded)
    if (kind === kinds.IMPORT_BEGIN) {
      if (open && !isLate) throw errors.IMPORT_RUNNING()
      open = {
        ...decoded,
        reader: new PriceLineReader(new CatalogDraft(new Terms()), decoded.replace, MAX_PRICES),
        pieces: 0,
        at,
      }
      return true
    }
    if (kind === kinds.IMPORT_ABORT && open?.id !== decoded) return true
    if (kind === kinds.IMPORT_EXPIRY && !isLate) return true
    const one = open
    open = undefined
    if (kind === kinds.IMPORT_ABORT || kind === kinds.IMPORT_EXPIRY) return true
    const isNext = one?.id === decoded.id && one?.pieces === (decoded.number ?? decoded.pieces)
    if (!isNext) {
      open = one
      throw errors.IMPORT_LOST()
    }
    if (kind === kinds.IMPORT_PIECE) {
      one!.reader.addChunk(decoded.bytes)
      open = { ...one!, pieces: one!.pieces + 1, at }
      return true
    }
    one!.reader.end()
    if (one!.reader.imported === 0 && !one!.mayBeEmpty) throw errors.IMPORT_EMPTY()
    return { imported: one!.reader.imported, prices: await catalog.takeImport(one!.reader) }
  }

  return {
    owner: catalog,
    close: () => level.close(),
    apply: (entry: LogEntry) => apply(entry).catch((error: Problem) => error.code),
  }
}

const price: fc.Arbitrary<Price> = fc
  .record({
    id: fc.integer({ min: 1, max: 9 }).map(toUuid),
    offeringId: fc.constantFrom('o1', 'o2'),
    value: fc.integer({ min: 1, max: 3 }),
    default: fc.boolean(),
    charValues: fc.uniqueArray(
      fc.record({
        char: fc.constantFrom('a', 'b'),
        value: fc.constantFrom<string | number>('x', 'x', 'y', '2026-01-01', 7),
      }),
      { selector: ({ char }) => char, maxLength: 2 },
    ),
  })
  .map(createPrice)
const piece = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .array(price, { minLength: 1, maxLength: 2 })
      .map((some) => some.map((one) => `${JSON.stringify(one)}\n`).join('')),
  },
  { weight: 1, arbitrary: fc.constant('{"half":') },
)
const anImport = fc.record({
  replace: fc.boolean(),
  pieces: fc.array(piece, { minLength: 1, maxLength: 3 }),
  end: fc.constantFrom('ends', 'ends', 'ends', 'ends', 'aborted', 'left', 'expires'),
  /** Number of single changes between its entries. */
  gaps: fc.array(fc.nat(2), { minLength: 5, maxLength: 5 }),
})
const single = fc.oneof(
  { weight: 4, arbitrary: price.map((one) => logEntries.put(one)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 }).map((one) => logEntries.remove(toUuid(one))) },
)

/** Single changes, and imports of several nodes whose entries interleave with them. */
const logs = fc
  .tuple(
    fc.array(single, { minLength: 12, maxLength: 30 }),
    fc.array(anImport, { minLength: 2, maxLength: 4 }),
    fc.array(fc.nat(29), { minLength: 4, maxLength: 4 }),
  )
  .map(([singles, imports, starts]) => {
    const slots = Array.from({ length: 60 }, (_, i): (readonly [number, Buffer, number?])[] =>
      singles[i] ? [singles[i]] : [],
    )
    for (const [i, { replace, pieces, end, gaps }] of imports.entries()) {
      const id = importId(i)
      const own: (readonly [number, Buffer, number?])[] = [
        logEntries.begin(id, replace),
        ...pieces.map((text, number) => logEntries.piece(id, number, text)),
      ]
      if (end === 'ends') own.push(logEntries.end(id, pieces.length))
      if (end === 'aborted') own.push(logEntries.abort(id))
      if (end === 'expires') own.push(logEntries.expire(0))
      let slot = starts[i]!
      for (const [j, entry] of own.entries()) slots[(slot += gaps[j]!)]!.push(entry)
    }
    let clock = 0
    return toEntries(
      slots
        .flat()
        .map(([kind, body]) => [kind, body, (clock += kind === kinds.IMPORT_EXPIRY ? LOG_IMPORT_TIMEOUT_MS - 5 : 1)]),
    )
  })

/**
 * Applies entries to a state machine in batches and retries each until it succeeds. After each batch a crash is
 * possible, and unapplied entries are then delivered again.
 */
async function applyInBatches(
  start: TestStateMachine,
  entries: readonly LogEntry[],
  cuts: Iterator<number>,
  after: (view: TestStateMachine) => Promise<TestStateMachine> = async (view) => view,
): Promise<{ last: TestStateMachine; outcomes: unknown[] }> {
  let view = start
  const outcomes: unknown[] = []
  for (let from = view.stateMachine.getPosition()?.seq ?? 0; from < entries.length;) {
    const some = entries.slice(from, from + cuts.next().value!)
    const before = view
    const given = await view.stateMachine.apply(some, toPosition(some.at(-1)!.seq)).catch((error: Error) => {
      if (error.message !== 'the disk failed') throw error
    })
    given?.forEach((outcome, i) => (outcomes[from + i] = toComparable(outcome)))
    view = await after(view)
    if (!given && view === before) cuts = prependSize(some.length, cuts)
    else from = view.stateMachine.getPosition()?.seq ?? 0
  }
  return { last: view, outcomes }
}

/** Delivers the entries again. */
function prependSize(size: number, rest: Iterator<number>): Iterator<number> {
  let isFirst = true
  return {
    next() {
      if (!isFirst) return rest.next()
      isFirst = false
      return { value: size }
    },
  }
}

const createSingleSizes = (): Iterator<number> => ({ next: () => ({ value: 1 }) })
const createLargeSizes = (): Iterator<number> => ({ next: () => ({ value: 1_000 }) })

describe('the state machine', () => {
  it('gives the result of a standalone service, for any batches and restarts', async () => {
    const seen = new Set<unknown>()
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.infiniteStream(fc.integer({ min: 1, max: 20 })),
        fc.infiniteStream(fc.nat(5)),
        async (entries, cuts, kills) => {
          const alone = await openStandalone()
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
            if (!dies) await view.catalog.reload()
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
          toEntries([logEntries.put(createPrice({ id: toUuid(77) })), logEntries.begin(importId(9))]),
          toPosition(2),
        )
        await other.stateMachine.restore(one.stateMachine.snapshot() as AsyncIterable<Buffer>)
        expect([other.stateMachine.getPosition(), other.stateMachine.open]).toEqual([
          one.stateMachine.getPosition(),
          one.stateMachine.open,
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

  it('applies an import that creates a new generation as a standalone service does', async () => {
    const some = Array.from({ length: 2_500 }, (_, i) =>
      createPrice({ id: toUuid(i), charValues: [{ char: 'n', value: i % 40 }] }),
    )
    const lines = (prices: readonly Price[]) => prices.map((one) => JSON.stringify(one)).join('\n')
    const [first, second] = [importId(1), importId(2)]
    const one = await openTestStateMachine()
    const text = lines(some)
    const entries = toEntries([
      logEntries.put(createPrice({ id: toUuid(9_000) }), 9_999),
      logEntries.begin(first, false, 9_999),
      logEntries.piece(first, 0, text.slice(0, 99_999)),
      logEntries.piece(first, 1, text.slice(99_999)),
      logEntries.end(first, 2),
      logEntries.begin(second, true, 9_999),
      logEntries.piece(second, 0, lines(some.slice(0, 3))),
      logEntries.end(second, 1),
    ])
    const outcomes = await one.stateMachine.apply(entries.slice(0, 5), toPosition(5))
    expect(outcomes.at(-1)).toEqual({ imported: 2_500, prices: 2_501 })
    expect((await listPrices(one.catalog)).map(({ id }) => id)).toEqual([toUuid(9_000), ...some.map(({ id }) => id)])
    const again = await one.reopen()
    expect((await again.stateMachine.apply(entries.slice(5), toPosition(8))).at(-1)).toEqual({ imported: 3, prices: 3 })
    // The previous generation is not stored: the log has all data.
    expect(await again.level.db.keys({ gte: 'g', lt: 'h' }).all()).not.toContainEqual(
      expect.stringMatching(/^g00000000[12]!/),
    )
    await again.close()
  })

  it('refuses an import again if the refusal was not persisted', async () => {
    const id = importId(1)
    for (const wrong of [
      [logEntries.piece(id, 0, 'what is this?\n')],
      [logEntries.piece(id, 0, '{"half":'), logEntries.end(id, 1)],
    ]) {
      let fault: WriteFault | undefined
      const one = await openTestStateMachine(createTemporaryFolder(), () => fault)
      const entries = toEntries([logEntries.begin(id), ...wrong])
      await one.stateMachine.apply(entries.slice(0, -1), toPosition(entries.length - 1))
      const apply = () => one.stateMachine.apply(entries.slice(-1), toPosition(entries.length))
      fault = 'lost'
      await expect(apply()).rejects.toThrow('the disk failed')
      fault = undefined
      expect([(await apply()).map(toComparable), one.stateMachine.open]).toEqual([['BAD_LINE'], undefined])
      await one.close()
    }
  })

  it('stores no data of a finished import, for any outcome', async () => {
    const staged = ({ level }: TestStateMachine) => level.db.keys(STAGED_RANGE).all()
    const line = `${JSON.stringify(createPrice())}\n`
    const late = LOG_IMPORT_TIMEOUT_MS + 1
    for (const end of [
      [logEntries.end(importId(1), 1)],
      [logEntries.abort(importId(1))],
      [logEntries.expire(late)],
      [logEntries.piece(importId(1), 1, 'what is this?\n')],
      [[...logEntries.begin(importId(2)), late] as const, [...logEntries.abort(importId(2)), late] as const],
    ]) {
      const one = await openTestStateMachine()
      const entries = toEntries([logEntries.begin(importId(1)), logEntries.piece(importId(1), 0, line), ...end])
      await one.stateMachine.apply(entries.slice(0, 2), toPosition(2))
      expect(await staged(one)).toHaveLength(1)
      const again = await one.reopen()
      expect(again.stateMachine.open?.id).toBe(importId(1))
      await again.stateMachine.apply(entries.slice(2), toPosition(entries.length))
      expect([again.stateMachine.open, await staged(again)]).toEqual([undefined, []])
      await again.close()
    }
  })

  it('discards data that a power cut may have torn, and reuses data after a clean shutdown', async () => {
    const one = await openTestStateMachine()
    await one.stateMachine.apply(toEntries([logEntries.put(createPrice())]), toPosition(1))
    const torn = await one.reopen('settled')
    expect(torn.stateMachine.getPosition()).toEqual(toPosition(1))
    await torn.stateMachine.apply([{ ...toEntries([logEntries.put(createPrice())])[0]!, seq: 2 }], toPosition(2))
    const meta = JSON.parse((await torn.level.db.get(META_KEY))!)
    await torn.level.db.put(META_KEY, JSON.stringify({ ...meta, log: { ...meta.log, boot: 'of another run' } }))
    const { catalog: owner, stateMachine: view, close } = await torn.reopen()
    expect([view.getPosition(), owner.size]).toEqual([undefined, 0])
    await close()
  })

  it('stops at an unknown entry, after it has applied the known ones', async () => {
    const one = await openTestStateMachine()
    const entries = toEntries([logEntries.put(createPrice()), [99, kinds.EMPTY_BODY]])
    await expect(one.stateMachine.apply(entries, toPosition(2))).rejects.toMatchObject({
      code: 'LOG_FORMAT_UNKNOWN',
      seq: 2,
    })
    const damaged = toEntries([logEntries.put(createPrice()), [kinds.PUT, Buffer.from('{')]])
    await expect(one.stateMachine.apply(damaged, toPosition(2))).rejects.toMatchObject({ code: 'LOG_DAMAGED', seq: 2 })
    await one.close()
  })
})
