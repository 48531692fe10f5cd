import { fromWire, type Problem, type WireError } from '@influencer-stats/runtime/problems'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry } from '@influencer-stats/log/log'
import { Draft } from '../src/core/draft.ts'
import * as kinds from '../src/core/log-entries.ts'
import type { Price } from '../src/core/price.ts'
import { Terms } from '../src/core/terms.ts'
import { openPricesLevel } from '../src/database.ts'
import { errors } from '../src/errors.ts'
import { IMPORT_PATIENCE, type Outcome } from '../src/owner/log-view.ts'
import { META, STAGED } from '../src/page-store.ts'
import { PriceLineReader } from '../src/price-line-reader.ts'
import {
  entriesOf,
  logged,
  MOST,
  openOwner,
  openView,
  positionAt,
  pricesOf,
  type Fault,
  type TestView,
} from './support/log-view.ts'
import { priceOf, uuid } from './support/prices.ts'

/** An import's id: 16 digits. */
const importId = (number: number) => String(number).padStart(16, '0')
const UNKNOWN = 'OUTCOME_UNKNOWN'

/** An outcome as it can be compared. */
function told(outcome: Outcome): unknown {
  if (typeof outcome === 'boolean' || 'imported' in outcome) return outcome
  return (fromWire(outcome as WireError) as Problem).code
}

/** A service that runs alone, asked for what an entry says, one after the other. */
async function openAlone() {
  const level = await openPricesLevel(temporaryFolder())
  const owner = await openOwner(level)
  let open: { id: string; reader: PriceLineReader; pieces: number; mayBeEmpty: boolean; at: number } | undefined

  async function ask({ kind, body, at }: Entry): Promise<unknown> {
    const asked =
      kind === kinds.IMPORT_PIECE
        ? kinds.decodePiece(body)
        : kinds.decodeText<any>(body.length > 0 ? body : Buffer.from('""'))
    const isLate = open && at - open.at >= IMPORT_PATIENCE
    if (kind === kinds.PUT) return owner.put({ ...asked.price, id: asked.key })
    if (kind === kinds.REMOVE) return owner.remove(asked)
    if (kind === kinds.IMPORT_BEGINS) {
      if (open && !isLate) throw errors.IMPORT_RUNNING()
      open = { ...asked, reader: new PriceLineReader(new Draft(new Terms()), asked.replace, MOST), pieces: 0, at }
      return true
    }
    if (kind === kinds.IMPORT_ABORTED && open?.id !== asked) return true
    if (kind === kinds.IMPORT_EXPIRES && !isLate) return true
    const one = open
    open = undefined
    if (kind === kinds.IMPORT_ABORTED || kind === kinds.IMPORT_EXPIRES) return true
    const isNext = one?.id === asked.id && one?.pieces === (asked.number ?? asked.pieces)
    if (!isNext) {
      open = one
      throw errors.IMPORT_LOST()
    }
    if (kind === kinds.IMPORT_PIECE) {
      one!.reader.take(asked.bytes)
      open = { ...one!, pieces: one!.pieces + 1, at }
      return true
    }
    one!.reader.end()
    if (one!.reader.imported === 0 && !one!.mayBeEmpty) throw errors.IMPORT_EMPTY()
    return { imported: one!.reader.imported, prices: await owner.take(one!.reader) }
  }

  return {
    owner,
    close: () => level.close(),
    ask: (entry: Entry) => ask(entry).catch((error: Problem) => error.code),
  }
}

const price: fc.Arbitrary<Price> = fc
  .record({
    id: fc.integer({ min: 1, max: 9 }).map(uuid),
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
  .map(priceOf)
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
  /** How many single changes come between its entries. */
  gaps: fc.array(fc.nat(2), { minLength: 5, maxLength: 5 }),
})
const single = fc.oneof(
  { weight: 4, arbitrary: price.map((one) => logged.put(one)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 }).map((one) => logged.remove(uuid(one))) },
)

/** Single changes, and imports of several nodes, whose entries come as they like between them. */
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
        logged.begins(id, replace),
        ...pieces.map((text, number) => logged.piece(id, number, text)),
      ]
      if (end === 'ends') own.push(logged.ends(id, pieces.length))
      if (end === 'aborted') own.push(logged.aborted(id))
      if (end === 'expires') own.push(logged.expires(0))
      let slot = starts[i]!
      for (const [j, entry] of own.entries()) slots[(slot += gaps[j]!)]!.push(entry)
    }
    let clock = 0
    return entriesOf(
      slots
        .flat()
        .map(([kind, body]) => [kind, body, (clock += kind === kinds.IMPORT_EXPIRES ? IMPORT_PATIENCE - 5 : 1)]),
    )
  })

/** Gives entries to a view in batches, each until it takes it; after each it may be killed, and what was not applied comes again. */
async function feed(
  start: TestView,
  entries: readonly Entry[],
  cuts: Iterator<number>,
  after: (view: TestView) => Promise<TestView> = async (view) => view,
): Promise<{ last: TestView; outcomes: unknown[] }> {
  let view = start
  const outcomes: unknown[] = []
  for (let from = view.view.position()?.seq ?? 0; from < entries.length;) {
    const some = entries.slice(from, from + cuts.next().value!)
    const before = view
    const given = await view.view.apply(some, positionAt(some.at(-1)!.seq)).catch((error: Error) => {
      if (error.message !== 'the disk failed') throw error
    })
    given?.forEach((outcome, i) => (outcomes[from + i] = told(outcome)))
    view = await after(view)
    if (!given && view === before) cuts = once(some.length, cuts)
    else from = view.view.position()?.seq ?? 0
  }
  return { last: view, outcomes }
}

/** The same again. */
function once(size: number, rest: Iterator<number>): Iterator<number> {
  let isFirst = true
  return {
    next() {
      if (!isFirst) return rest.next()
      isFirst = false
      return { value: size }
    },
  }
}

const ones = (): Iterator<number> => ({ next: () => ({ value: 1 }) })
const all = (): Iterator<number> => ({ next: () => ({ value: 1_000 }) })

describe('the view of the log', () => {
  it('gives what a service gives that runs alone, however the log comes to it and whenever a node starts anew', async () => {
    const seen = new Set<unknown>()
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.infiniteStream(fc.integer({ min: 1, max: 20 })),
        fc.infiniteStream(fc.nat(5)),
        async (entries, cuts, kills) => {
          const alone = await openAlone()
          const answers: unknown[] = []
          for (const entry of entries) answers.push(await alone.ask(entry))
          for (const one of answers) seen.add(typeof one === 'object' ? 'imported' : one)
          const prices = await pricesOf(alone.owner)
          const whole = await feed(await openView(), entries, all())
          expect(whole.outcomes).toEqual(answers)
          expect(await pricesOf(whole.last.owner)).toEqual(prices)
          const some = await feed(await openView(), entries, cuts, async (view) => {
            const kill = kills.next().value!
            return kill === 0 ? view.reopen() : kill === 1 ? view.reopen('settled') : view
          })
          expect(some.outcomes).toEqual(answers)
          expect(await pricesOf(some.last.owner)).toEqual(prices)
          await Promise.all([alone, whole.last, some.last].map((one) => one.close()))
        },
      ),
      { numRuns: 15 },
    )
    // They were at all of it.
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

  it('is the same where writes fail or the process dies between them', async () => {
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.infiniteStream(fc.integer({ min: 1, max: 20 })),
        fc.infiniteStream(
          fc.constantFrom<Fault | undefined>('lost', 'kept', ...Array.from({ length: 8 }, () => undefined)),
        ),
        fc.boolean(),
        async (entries, cuts, faults, dies) => {
          const plain = await feed(await openView(), entries, ones())
          let isOn = false
          let failed = false
          const start = await openView(temporaryFolder(), () => {
            const fault = isOn ? faults.next().value : undefined
            failed ||= fault !== undefined
            return fault
          })
          isOn = true
          const { last, outcomes } = await feed(start, entries, cuts, async (view) => {
            if (!failed) return view
            isOn = failed = false
            const next = dies ? await view.reopen() : view
            if (!dies) await view.owner.reload()
            isOn = true
            return next
          })
          for (const [i, outcome] of outcomes.entries())
            if (outcome !== undefined && outcome !== UNKNOWN) expect([i, outcome]).toEqual([i, plain.outcomes[i]])
          expect(await pricesOf(last.owner)).toEqual(await pricesOf(plain.last.owner))
          await Promise.all([plain.last.close(), last.close()])
        },
      ),
      { numRuns: 20 },
    )
  })

  it('goes into a snapshot at any place, an open import included, and comes out of it', async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.nat(), async (entries, cut) => {
        const one = await openView()
        const until = entries.length === 0 ? 0 : cut % entries.length
        await feed(one, entries.slice(0, until), all())
        const other = await openView()
        await other.view.apply(
          entriesOf([logged.put(priceOf({ id: uuid(77) })), logged.begins(importId(9))]),
          positionAt(2),
        )
        await other.view.restore(one.view.snapshot() as AsyncIterable<Buffer>)
        expect([other.view.position(), other.view.open]).toEqual([one.view.position(), one.view.open])
        expect(await pricesOf(other.owner)).toEqual(await pricesOf(one.owner))
        // What is restored outlives a power cut.
        const again = await other.reopen()
        const [first, second] = [await feed(one, entries, all()), await feed(again, entries, all())]
        expect(second.outcomes.slice(until)).toEqual(first.outcomes.slice(until))
        expect(await pricesOf(second.last.owner)).toEqual(await pricesOf(first.last.owner))
        await Promise.all([first.last.close(), second.last.close()])
      }),
      { numRuns: 15 },
    )
  })

  it('takes an import that makes the catalog anew as a service does that runs alone', async () => {
    const some = Array.from({ length: 2_500 }, (_, i) =>
      priceOf({ id: uuid(i), charValues: [{ char: 'n', value: i % 40 }] }),
    )
    const lines = (prices: readonly Price[]) => prices.map((one) => JSON.stringify(one)).join('\n')
    const [first, second] = [importId(1), importId(2)]
    const one = await openView()
    const text = lines(some)
    const entries = entriesOf([
      logged.put(priceOf({ id: uuid(9_000) }), 9_999),
      logged.begins(first, false, 9_999),
      logged.piece(first, 0, text.slice(0, 99_999)),
      logged.piece(first, 1, text.slice(99_999)),
      logged.ends(first, 2),
      logged.begins(second, true, 9_999),
      logged.piece(second, 0, lines(some.slice(0, 3))),
      logged.ends(second, 1),
    ])
    const outcomes = await one.view.apply(entries.slice(0, 5), positionAt(5))
    expect(outcomes.at(-1)).toEqual({ imported: 2_500, prices: 2_501 })
    expect((await pricesOf(one.owner)).map(({ id }) => id)).toEqual([uuid(9_000), ...some.map(({ id }) => id)])
    const again = await one.reopen()
    expect((await again.view.apply(entries.slice(5), positionAt(8))).at(-1)).toEqual({ imported: 3, prices: 3 })
    // What was before is not kept: the log has it.
    expect(await again.level.db.keys({ gte: 'g', lt: 'h' }).all()).not.toContainEqual(
      expect.stringMatching(/^g00000000[12]!/),
    )
    await again.close()
  })

  it('refuses an import again whose refusal could not be kept', async () => {
    const id = importId(1)
    for (const wrong of [
      [logged.piece(id, 0, 'what is this?\n')],
      [logged.piece(id, 0, '{"half":'), logged.ends(id, 1)],
    ]) {
      let fault: Fault | undefined
      const one = await openView(temporaryFolder(), () => fault)
      const entries = entriesOf([logged.begins(id), ...wrong])
      await one.view.apply(entries.slice(0, -1), positionAt(entries.length - 1))
      const apply = () => one.view.apply(entries.slice(-1), positionAt(entries.length))
      fault = 'lost'
      await expect(apply()).rejects.toThrow('the disk failed')
      fault = undefined
      expect([(await apply()).map(told), one.view.open]).toEqual([['BAD_LINE'], undefined])
      await one.close()
    }
  })

  it('keeps nothing of an import that has ended, however it did', async () => {
    const staged = ({ level }: TestView) => level.db.keys(STAGED).all()
    const line = `${JSON.stringify(priceOf())}\n`
    const late = IMPORT_PATIENCE + 1
    for (const end of [
      [logged.ends(importId(1), 1)],
      [logged.aborted(importId(1))],
      [logged.expires(late)],
      [logged.piece(importId(1), 1, 'what is this?\n')],
      [[...logged.begins(importId(2)), late] as const, [...logged.aborted(importId(2)), late] as const],
    ]) {
      const one = await openView()
      const entries = entriesOf([logged.begins(importId(1)), logged.piece(importId(1), 0, line), ...end])
      await one.view.apply(entries.slice(0, 2), positionAt(2))
      expect(await staged(one)).toHaveLength(1)
      const again = await one.reopen()
      expect(again.view.open?.id).toBe(importId(1))
      await again.view.apply(entries.slice(2), positionAt(entries.length))
      expect([again.view.open, await staged(again)]).toEqual([undefined, []])
      await again.close()
    }
  })

  it('that a power cut may have torn is thrown away, and one that ended in order is not', async () => {
    const one = await openView()
    await one.view.apply(entriesOf([logged.put(priceOf())]), positionAt(1))
    const torn = await one.reopen('settled')
    expect(torn.view.position()).toEqual(positionAt(1))
    await torn.view.apply([{ ...entriesOf([logged.put(priceOf())])[0]!, seq: 2 }], positionAt(2))
    const meta = JSON.parse((await torn.level.db.get(META))!)
    await torn.level.db.put(META, JSON.stringify({ ...meta, log: { ...meta.log, boot: 'of another run' } }))
    const { owner, view, close } = await torn.reopen()
    expect([view.position(), owner.size]).toEqual([undefined, 0])
    await close()
  })

  it('stops at what it does not know, behind what it knows', async () => {
    const one = await openView()
    const entries = entriesOf([logged.put(priceOf()), [99, kinds.NOTHING]])
    await expect(one.view.apply(entries, positionAt(2))).rejects.toMatchObject({ code: 'LOG_FORMAT_UNKNOWN', seq: 2 })
    const damaged = entriesOf([logged.put(priceOf()), [kinds.PUT, Buffer.from('{')]])
    await expect(one.view.apply(damaged, positionAt(2))).rejects.toMatchObject({ code: 'LOG_DAMAGED', seq: 2 })
    await one.close()
  })
})
