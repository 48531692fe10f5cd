import { FrameError, outcomeUnknown } from '@influencer-stats/log/errors'
import type { Entry, Position, View } from '@influencer-stats/log/log'
import { CLEAN, clearLevel, isTorn, keepClean } from '@influencer-stats/log/level-view'
import { readSnapshot, snapshotPieces } from '@influencer-stats/log/level-snapshot'
import { bootId } from '@influencer-stats/runtime/boot-id'
import { fromWire, Problem, toWire, type WireError } from '@influencer-stats/runtime/problems'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import * as kinds from '../core/log-entries.ts'
import { errors } from '../errors.ts'
import type { Pending } from '../groups.ts'
import type { Imported } from '../messages.ts'
import { META } from '../page-store.ts'
import type { CatalogOwner } from './catalog-owner.ts'
import type { Meta } from './generations.ts'
import type { SingleChange } from './judge.ts'
import { LoggedImport } from './logged-import.ts'
import type { LogMark, OpenImport } from './log-mark.ts'
import { isOfCatalog } from './snapshot.ts'

/** What became of an entry: whether a price was new, or there; what was imported; or why it was refused. */
export type Outcome = boolean | Imported | WireError

/** @throws Problem why it was refused */
export function resultOf(outcome: Outcome): boolean | Imported {
  if (typeof outcome === 'boolean' || 'imported' in outcome) return outcome
  throw fromWire(outcome)
}

/** An import of which nothing comes for so long, by the log's clock, is given up: who took it may be gone (ms). */
export const IMPORT_PATIENCE = 30_000

/** So many changes of prices are one write at most: they are judged in one turn of the event loop. */
const MOST_AT_ONCE = 512

const OWN_KEY = Buffer.from(META)
const SNAPSHOT = 'prices snapshot 1'

const isRefusal = (error: unknown): error is Problem => error instanceof Problem && error.code in errors
const isSingle = ({ kind }: Entry) => kind === kinds.PUT || kind === kinds.REMOVE

/** Throws away what a power cut may have torn, before it is opened: the log has all of it. */
export async function clearTorn(level: SharedLevel): Promise<void> {
  const found = await level.db.get(META)
  const mark = found === undefined ? undefined : (JSON.parse(found) as Meta).log
  if (mark && isTorn(mark.boot)) await clearLevel(level, META)
}

/** The prices service's view of the log: the catalog that a node makes of it. Main's. */
export class LogView implements View {
  readonly #owner: CatalogOwner
  readonly #level: SharedLevel
  readonly #boot = bootId()
  #import: LoggedImport | undefined
  /** Of a batch that could not be written to its end: what came of those entries that were. */
  #outcomes: Outcome[] = []

  private constructor(owner: CatalogOwner, level: SharedLevel) {
    this.#owner = owner
    this.#level = level
  }

  /** @throws StartError `DATA_DAMAGED` */
  static async open(owner: CatalogOwner, level: SharedLevel): Promise<LogView> {
    const view = new LogView(owner, level)
    await view.#resume()
    return view
  }

  /** The import that has begun and not ended. */
  get open(): OpenImport | undefined {
    return this.#owner.mark?.open
  }

  position(): Position | undefined {
    return this.#owner.mark?.position
  }

  async apply(entries: readonly Entry[], position: Position): Promise<Outcome[]> {
    const before = this.#owner.mark
    // A fault may have been told of what was written nevertheless.
    if (before?.position?.seq !== position.seq || before.position.epoch !== position.epoch)
      await this.#make(entries, position, before?.made ?? 0)
    const outcomes = this.#outcomes
    this.#outcomes = []
    // Those of a life before this one: nobody waits for them.
    return entries.map((_, i) => outcomes[i] ?? toWire(outcomeUnknown()))
  }

  /** @param made so many are made already */
  async #make(entries: readonly Entry[], position: Position, made: number): Promise<void> {
    const markAt = (next: number): LogMark => {
      const { position: from, open } = this.#owner.mark ?? {}
      const rest = { boot: this.#boot, open }
      return next < entries.length
        ? { ...(from && { position: from }), made: next, ...rest }
        : { position, made: Math.max(0, made - next), ...rest }
    }
    if (made >= entries.length) return this.#owner.setMark(markAt(entries.length))
    for (let next = made; next < entries.length;) {
      const first = entries[next]!
      if (isSingle(first)) {
        const group = this.#groupFrom(entries, next)
        next += group.length
        await this.#owner.change(group, markAt(next))
      } else {
        const at = next++
        this.#outcomes[at] = await this.#importStep(first, markAt(next))
      }
    }
  }

  /** Changes of different prices that follow each other. */
  #groupFrom(entries: readonly Entry[], from: number): Pending<SingleChange, boolean>[] {
    const group: Pending<SingleChange, boolean>[] = []
    const seen = new Set<string>()
    for (let i = from; i < entries.length && group.length < MOST_AT_ONCE && isSingle(entries[i]!); i++) {
      const change = changeOf(entries[i]!)
      if (seen.has(change.key)) break
      seen.add(change.key)
      group.push({
        change,
        resolve: (outcome) => (this.#outcomes[i] = outcome),
        reject: (error) => {
          // What is this node's own fault is none of the change's.
          if (!isRefusal(error)) throw error
          this.#outcomes[i] = toWire(error)
        },
      })
    }
    return group
  }

  /** @param mark as it is to be kept, but for the import */
  async #importStep(entry: Entry, mark: LogMark): Promise<Outcome> {
    const { kind, seq, at } = entry
    const { open } = mark
    const isLate = open !== undefined && at - open.at >= IMPORT_PATIENCE
    switch (kind) {
      case kinds.IMPORT_BEGINS: {
        if (open && !isLate) return this.#refuse(errors.IMPORT_RUNNING(), mark)
        const begins = read<kinds.ImportBegins>(entry)
        this.#import = new LoggedImport(begins)
        await this.#owner.setMark({ ...mark, open: { ...begins, pieces: 0, at } })
        await this.#owner.clearStaged()
        return true
      }
      case kinds.IMPORT_PIECE: {
        const { id, number, bytes } = read(entry, kinds.decodePiece)
        if (open?.id !== id || open.pieces !== number) return this.#refuse(errors.IMPORT_LOST(), mark)
        return this.#orDrop(mark, async () => {
          await this.#import!.take(number, bytes)
          await this.#owner.setMark({ ...mark, open: { ...open, pieces: number + 1, at } }, { piece: bytes })
          return true
        })
      }
      case kinds.IMPORT_ENDS: {
        const { id, pieces } = read<kinds.ImportEnds>(entry)
        if (open?.id !== id || open.pieces !== pieces) return this.#refuse(errors.IMPORT_LOST(), mark)
        return this.#orDrop(mark, async () => {
          const reader = this.#import!.end(open.mayBeEmpty)
          const prices = await this.#owner.take(reader, { ...mark, open: undefined })
          await this.#cleared()
          return { imported: reader.imported, prices }
        })
      }
      case kinds.IMPORT_ABORTED:
        return this.#drop(mark, open?.id === read<string>(entry))
      case kinds.IMPORT_EXPIRES:
        return this.#drop(mark, isLate)
      default:
        throw new FrameError(
          'LOG_FORMAT_UNKNOWN',
          `what is at ${seq} is of a kind that this version does not know`,
          seq,
        )
    }
  }

  async #refuse(problem: Problem, mark: LogMark): Promise<Outcome> {
    await this.#owner.setMark(mark)
    return toWire(problem)
  }

  /** What is refused ends the import. */
  async #orDrop(mark: LogMark, step: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await step()
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#import!.failure = error
      await this.#drop(mark, true)
      return toWire(error)
    }
  }

  async #drop(mark: LogMark, isDue: boolean): Promise<boolean> {
    await this.#owner.setMark(isDue ? { ...mark, open: undefined } : mark)
    if (isDue) await this.#cleared()
    return true
  }

  async #cleared(): Promise<void> {
    this.#import = undefined
    await this.#owner.clearStaged()
  }

  /** Goes on with an import of which this node has a part. */
  async #resume(): Promise<void> {
    const { open } = this
    this.#import = open && new LoggedImport(open)
    if (!open) return this.#owner.clearStaged()
    let number = 0
    for await (const bytes of this.#owner.staged(open)) await this.#import!.take(number++, bytes)
  }

  snapshot(): AsyncIterable<Buffer> {
    return snapshotPieces(this.#level.db, { name: SNAPSHOT, ownKey: OWN_KEY, keeps: isOfCatalog })
  }

  async restore(pieces: AsyncIterable<Buffer>): Promise<void> {
    await clearLevel(this.#level, META)
    const { db } = this.#level
    const meta: Meta = JSON.parse(String(await readSnapshot(pieces, db, [SNAPSHOT])))
    await keepClean(this.#level, META, JSON.stringify({ ...meta, log: { ...meta.log!, boot: CLEAN } }))
    await this.#owner.reload()
    await this.#resume()
  }

  /** All of it is on the disk: after a power cut it can be gone on with. */
  async settle(): Promise<void> {
    const { mark } = this.#owner
    if (mark && mark.boot !== CLEAN) await this.#owner.setMark({ ...mark, boot: CLEAN }, { sync: true })
  }
}

/** @throws FrameError */
function read<T>({ seq, body }: Entry, decode: (body: Buffer) => T = kinds.decodeText): T {
  try {
    return decode(body)
  } catch (error) {
    throw new FrameError('LOG_DAMAGED', (error as Error).message, seq)
  }
}

function changeOf(entry: Entry): SingleChange {
  if (entry.kind === kinds.REMOVE) return { key: read(entry) }
  const { key, most, price } = read<kinds.LoggedPut>(entry)
  return { key, most, price: { ...price, id: key } }
}
