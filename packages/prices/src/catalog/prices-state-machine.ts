import { FrameError, createOutcomeUnknownError } from '@influencer-stats/log/errors'
import type { LogEntry } from '@influencer-stats/log/log'
import { createSnapshotCodec } from '@influencer-stats/log/level-snapshot'
import {
  openLevelStateMachine,
  type LevelModel,
  type LevelStateMachine,
  type PositionRow,
  type SnapshotCodec,
} from '@influencer-stats/log/level-state-machine'
import { readEntry } from '@influencer-stats/log/read-entry'
import { parseWireError, Problem, toWireError, type WireError } from '@influencer-stats/runtime/problems'
import { toReadProblem } from '@influencer-stats/runtime/read-errors'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import * as kinds from './log-entries.ts'
import { errors } from '../errors.ts'
import type { ImportResult, PatchedPrice, PriceRemoval, RemovalResult } from '../messages.ts'
import { META_KEY } from '../storage/page-store.ts'
import type { PriceCatalog } from './price-catalog.ts'
import type { CatalogMeta } from '../storage/generation-reader.ts'
import { formatMeta } from '../storage/generations.ts'
import type { PendingChange, PriceChange } from './evaluate-changes.ts'
import { LoggedImport } from './logged-import.ts'
import type { LogCheckpoint } from '../storage/log-checkpoint.ts'
import { createSnapshotFilter } from '../storage/snapshot-filter.ts'

/**
 * The outcome of an entry. A put: true if the price is new. A removal: true if the price existed. The end of an import:
 * its result. A patch: the price. A removal by conditions: its result. Any other entry: true. A refused entry, and in a
 * standalone service one that failed: the error.
 */
export type PricesOutcome = PricesResult | WireError

export type PricesResult = boolean | ImportResult | PatchedPrice | RemovalResult

const isResult = (outcome: PricesOutcome): outcome is PricesResult =>
  typeof outcome === 'boolean' || 'imported' in outcome || 'price' in outcome || 'matched' in outcome

/** Returns the result of an accepted entry. @throws Problem the reason of a refusal */
export function toResult(outcome: PricesOutcome): PricesResult {
  if (isResult(outcome)) return outcome
  throw parseWireError(outcome)
}

/** An import without a new entry for this time, by the log's clock, is aborted: its node may have failed (ms). */
export const LOG_IMPORT_TIMEOUT_MS = 30_000

/** Maximum changes of prices in one write. They are evaluated in one turn of the event loop. */
const MAX_BATCH_CHANGES = 512

const SNAPSHOT_NAME = 'prices snapshot 2'
/** Its pages have a subset of the contents of the current format. */
const FIRST_SNAPSHOT_NAME = 'prices snapshot 1'

const isRefusal = (error: unknown): error is Problem => error instanceof Problem && error.code in errors
const PRICE_CHANGES: ReadonlySet<number> = new Set([kinds.PUT, kinds.PUT_V1, kinds.PATCH, kinds.REMOVE])
const isPriceChange = ({ kind }: LogEntry) => PRICE_CHANGES.has(kind)

/** The row `meta` of the database. */
export interface PricesRow extends LogCheckpoint {
  readonly meta: CatalogMeta
}

export function createPricesSnapshots(db: SharedLevel['db']): SnapshotCodec {
  const format = { name: SNAPSHOT_NAME, positionKey: Buffer.from(META_KEY), createFilter: createSnapshotFilter }
  return createSnapshotCodec(db, format, [FIRST_SNAPSHOT_NAME])
}

/** Entries, and the outcomes of those that are already applied. */
interface PricesBatch {
  readonly entries: readonly LogEntry[]
  readonly outcomes: PricesOutcome[]
}

/**
 * Loads a catalog, and opens its state machine, on the main thread. After a power cut it first clears the catalog of a
 * node.
 * @param isReplica true for a node of a cluster, false for a standalone service
 * @throws StartError `DATA_DAMAGED`
 */
export const openPricesStateMachine = (
  catalog: PriceCatalog,
  level: SharedLevel,
  isReplica: boolean,
): Promise<LevelStateMachine> => openLevelStateMachine(new PricesModel(catalog, level, isReplica))

/** The catalog, built from the log. An import needs several writes, so each write stores how many entries are applied. */
class PricesModel implements LevelModel<PricesRow, PricesBatch> {
  readonly positionKey = META_KEY
  readonly level: SharedLevel
  readonly isReplica: boolean
  readonly snapshots: SnapshotCodec
  readonly #catalog: PriceCatalog
  #import: LoggedImport | undefined

  constructor(catalog: PriceCatalog, level: SharedLevel, isReplica: boolean) {
    this.#catalog = catalog
    this.level = level
    this.isReplica = isReplica
    this.snapshots = createPricesSnapshots(level.db)
  }

  parseRow(text: string): PricesRow {
    return parsePricesRow(text)
  }

  formatRow({ meta, ...log }: PricesRow): string {
    return formatMeta({ ...meta, log })
  }

  getRow(): PricesRow {
    return toRow(this.#catalog.meta)
  }

  /** Loads the catalog, and resumes an import that this node has received in part. */
  async load(): Promise<void> {
    await this.#catalog.load()
    const open = this.#catalog.meta.log?.open
    this.#import = open && new LoggedImport(open)
    if (!open) return this.#catalog.clearStaged()
    let number = 0
    for await (const bytes of this.#catalog.readStaged(open)) await this.#import!.addPiece({ number: number++, bytes })
  }

  evaluate(entries: readonly LogEntry[]): PricesBatch {
    return { entries, outcomes: [] }
  }

  async write(batch: PricesBatch, row: Required<PositionRow>): Promise<PricesRow> {
    const { position, made } = this.getRow()
    // A write that reported a fault may have succeeded: then the catalog already has this position.
    if (position?.seq === row.position.seq && position.epoch === row.position.epoch) return this.getRow()
    // A log that continues a lost one has other entries after the position.
    const isContinued = position !== undefined && position.epoch !== row.position.epoch
    await this.#applyEntries(batch, row, isContinued ? 0 : made)
    return this.getRow()
  }

  publish({ entries, outcomes }: PricesBatch): PricesOutcome[] {
    // Entries that an earlier process applied have no outcome, and no client waits for them.
    return entries.map((_, i) => outcomes[i] ?? toWireError(createOutcomeUnknownError()))
  }

  /** @param made number of entries that are already applied */
  async #applyEntries(
    { entries, outcomes }: PricesBatch,
    { position, boot }: Required<PositionRow>,
    made: number,
  ): Promise<void> {
    const createCheckpoint = (next: number): LogCheckpoint => {
      const { position: from, open, madeSeq } = this.#catalog.meta.log ?? {}
      const rest = { boot, open }
      if (next < entries.length)
        return { ...(from && { position: from }), made: next, madeSeq: entries[next - 1]!.seq, ...rest }
      const left = Math.max(0, made - next)
      return { position, made: left, ...(left > 0 && { madeSeq }), ...rest }
    }
    if (made >= entries.length) return this.#catalog.setCheckpoint(createCheckpoint(entries.length))
    for (let next = made; next < entries.length;) {
      const at = next
      const first = entries[at]!
      const group = takeBatch(entries, at, outcomes)
      next += group.length || 1
      try {
        if (group.length > 0) await this.#catalog.applyChanges(group, createCheckpoint(next))
        else outcomes[at] = await this.#applyEntry(first, createCheckpoint(next))
      } catch (error) {
        // The log of a cluster repeats the entries. A local log does not, so later entries are applied without these.
        if (this.isReplica || error instanceof FrameError) throw error
        for (let i = at; i < next; i++) outcomes[i] ??= toWireError(toReadProblem(error) ?? error)
        await this.#catalog.setCheckpoint(createCheckpoint(next))
      }
    }
  }

  /** @param checkpoint the checkpoint to write; its `open` is the import as it was before this entry */
  async #applyEntry(entry: LogEntry, checkpoint: LogCheckpoint): Promise<PricesOutcome> {
    const { kind, seq, at } = entry
    const { open } = checkpoint
    const isLate = open !== undefined && at - open.at >= LOG_IMPORT_TIMEOUT_MS
    switch (kind) {
      case kinds.REMOVE_WHERE: {
        const removal = readEntry<PriceRemoval>(entry, kinds.decodeText)
        return this.#catalog.removeWhere(removal, checkpoint).catch((error: unknown) => {
          if (!isRefusal(error)) throw error
          return this.#refuse(error, checkpoint)
        })
      }
      case kinds.IMPORT_BEGIN:
      case kinds.IMPORT_BEGIN_V1: {
        if (open && !isLate) return this.#refuse(errors.IMPORT_RUNNING(), checkpoint)
        const importBegin = { ...readEntry<kinds.ImportBegin>(entry, kinds.decodeText), kind }
        this.#import = new LoggedImport(importBegin)
        await this.#catalog.setCheckpoint({ ...checkpoint, open: { ...importBegin, pieces: 0, at } })
        await this.#catalog.clearStaged()
        return true
      }
      case kinds.IMPORT_PIECE: {
        const piece = readEntry(entry, kinds.decodePiece)
        const { id, number, bytes } = piece
        if (open?.id !== id || open.pieces !== number) return this.#refuse(errors.IMPORT_LOST(), checkpoint)
        return this.#runOrDrop(checkpoint, async () => {
          await this.#import!.addPiece(piece)
          await this.#catalog.setCheckpoint({ ...checkpoint, open: { ...open, pieces: number + 1, at } }, bytes)
          return true
        })
      }
      case kinds.IMPORT_END: {
        const { id, pieces } = readEntry<kinds.ImportEnd>(entry, kinds.decodeText)
        if (open?.id !== id || open.pieces !== pieces) return this.#refuse(errors.IMPORT_LOST(), checkpoint)
        return this.#runOrDrop(checkpoint, async () => {
          const ended = this.#import!
          ended.end(open.mayBeEmpty)
          const prices = await this.#catalog.takeImport(ended, { ...checkpoint, open: undefined })
          await this.#clearImport()
          return { imported: ended.imported, prices }
        })
      }
      case kinds.IMPORT_ABORT:
        return this.#dropImport(checkpoint, open?.id === readEntry<string>(entry, kinds.decodeText))
      case kinds.IMPORT_EXPIRY:
        return this.#dropImport(checkpoint, isLate)
      default:
        throw new FrameError('LOG_FORMAT_UNKNOWN', `entry ${seq} is of a kind that this version does not know`, seq)
    }
  }

  async #refuse(problem: Problem, checkpoint: LogCheckpoint): Promise<PricesOutcome> {
    await this.#catalog.setCheckpoint(checkpoint)
    return toWireError(problem)
  }

  /** Runs a step of an import. A refusal ends the import. */
  async #runOrDrop(checkpoint: LogCheckpoint, step: () => Promise<PricesOutcome>): Promise<PricesOutcome> {
    try {
      return await step()
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#import!.failure = error
      await this.#dropImport(checkpoint, true)
      return toWireError(error)
    }
  }

  /** Writes the checkpoint. If `isDue`, it also drops the open import. */
  async #dropImport(checkpoint: LogCheckpoint, isDue: boolean): Promise<boolean> {
    await this.#catalog.setCheckpoint(isDue ? { ...checkpoint, open: undefined } : checkpoint)
    if (isDue) await this.#clearImport()
    return true
  }

  async #clearImport(): Promise<void> {
    this.#import = undefined
    await this.#catalog.clearStaged()
  }
}

/** Parses the row `meta`. */
export const parsePricesRow = (text: string): PricesRow => toRow(JSON.parse(text))

function toRow(meta: CatalogMeta): PricesRow {
  const row = { made: 0, boot: undefined, ...meta.log, meta }
  const { position, made, madeSeq } = row
  // Older versions did not store the sequence.
  return position && made > 0 ? { ...row, position: { ...position, partialSeq: madeSeq ?? position.seq + 1 } } : row
}

/** Returns consecutive changes of different prices; none if the first entry is not a change. */
function takeBatch(entries: readonly LogEntry[], from: number, outcomes: PricesOutcome[]): PendingChange[] {
  const group: PendingChange[] = []
  const seen = new Set<string>()
  for (let i = from; i < entries.length && group.length < MAX_BATCH_CHANGES && isPriceChange(entries[i]!); i++) {
    const change = toPriceChange(entries[i]!)
    if (seen.has(change.key)) break
    seen.add(change.key)
    group.push({
      change,
      resolve: (outcome) => (outcomes[i] = outcome),
      reject: (error) => {
        // A fault of this node must not become the outcome of the change.
        if (!isRefusal(error)) throw error
        outcomes[i] = toWireError(error)
      },
    })
  }
  return group
}

function toPriceChange(entry: LogEntry): PriceChange {
  if (entry.kind === kinds.REMOVE) return { key: readEntry<string>(entry, kinds.decodeText), maxPrices: Infinity }
  const isV1 = entry.kind === kinds.PUT_V1
  const { key, most, price } = readEntry(entry, isV1 ? kinds.decodePutV1 : kinds.decodePut)
  if (entry.kind === kinds.PATCH) return { key, maxPrices: most, patch: price }
  return { key, maxPrices: most, price: { ...price, id: key }, isV1 }
}
