import type { LogEntry } from '@influencer-stats/log/log'
import { parseWireError, type Problem, type WireError } from '@influencer-stats/runtime/problems'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import fc from 'fast-check'
import * as kinds from '../../src/catalog/log-entries.ts'
import { LoggedImport } from '../../src/catalog/logged-import.ts'
import { LOG_IMPORT_TIMEOUT_MS, type PricesOutcome } from '../../src/catalog/prices-state-machine.ts'
import type { Price } from '../../src/core/price.ts'
import { errors } from '../../src/errors.ts'
import { openPricesLevel } from '../../src/storage/database.ts'
import { createPrice, toUuid } from './prices.ts'
import { NO_POSITION, createTestCatalog, openTestStandalone } from './standalone.ts'
import { logEntries, MAX_PRICES, toEntries, toPosition, type TestStateMachine } from './state-machine.ts'

/** An import's id: 16 digits. */
export const toImportId = (number: number) => String(number).padStart(16, '0')
export const UNKNOWN_CODE = 'OUTCOME_UNKNOWN'

/** Returns an outcome in a comparable form. */
export function toComparable(outcome: unknown): unknown {
  if (typeof outcome === 'boolean' || 'imported' in (outcome as PricesOutcome & object)) return outcome
  return (parseWireError(outcome as WireError) as Problem).code
}

/** The oracle: a standalone catalog that executes the requests of entries one after the other. */
export async function openOracle() {
  const level = await openPricesLevel(createTemporaryFolder())
  const catalog = createTestCatalog(level)
  const { put, remove } = await openTestStandalone(catalog, level, MAX_PRICES)
  let open: { id: string; whole: LoggedImport; pieces: number; mayBeEmpty: boolean; at: number } | undefined

  async function apply({ kind, body, at }: LogEntry): Promise<unknown> {
    const decoded =
      kind === kinds.IMPORT_PIECE
        ? kinds.decodePiece(body)
        : kinds.decodeText<any>(body.length > 0 ? body : Buffer.from('""'))
    const isLate = open && at - open.at >= LOG_IMPORT_TIMEOUT_MS
    if (kind === kinds.PUT) return put({ ...decoded.price, id: decoded.key })
    if (kind === kinds.REMOVE) return remove(decoded)
    if (kind === kinds.IMPORT_BEGIN) {
      if (open && !isLate) throw errors.IMPORT_RUNNING()
      open = { ...decoded, whole: new LoggedImport({ ...decoded, kind }), pieces: 0, at }
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
      await one!.whole.addPiece(decoded)
      open = { ...one!, pieces: one!.pieces + 1, at }
      return true
    }
    one!.whole.end(one!.mayBeEmpty)
    return { imported: one!.whole.imported, prices: await catalog.takeImport(one!.whole, NO_POSITION) }
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
export const logs = fc
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
      const id = toImportId(i)
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
export async function applyInBatches(
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

export const createSingleSizes = (): Iterator<number> => ({ next: () => ({ value: 1 }) })
export const createLargeSizes = (): Iterator<number> => ({ next: () => ({ value: 1_000 }) })
