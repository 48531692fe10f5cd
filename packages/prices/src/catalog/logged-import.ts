import { CatalogDraft } from '../core/catalog-draft.ts'
import type { Price } from '../core/price.ts'
import { decodePriceBatch, type PriceBatch } from '../core/price-batch.ts'
import { IMPORT_BEGIN, type ImportBegin, type ImportPiece } from './log-entries.ts'
import { Terms } from '../core/terms.ts'
import { errors } from '../errors.ts'
import { PriceLineReader } from './price-line-reader.ts'
import { validateLoggedPriceLine } from '../price-schema.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'

/** Bytes that are read before the loop yields to other work. */
const SLICE_BYTES = 65_536

/**
 * An import from the log. It is parsed without the catalog, which changes meanwhile, so the time at which a node parses
 * it has no effect. After a failed write the import is evaluated again, but not parsed again.
 */
export class LoggedImport {
  readonly draft = new CatalogDraft(new Terms())
  readonly replace: boolean
  /** Maximum number of prices. */
  readonly maxPrices: number
  /** Number of prices read; a repeated id counts each time. */
  imported = 0
  /** True for the rules of older versions: replaced prices count for the types, too, and values are rounded to doubles. */
  readonly isV1: boolean
  readonly #reader: PriceLineReader
  #piecesRead = 0
  /** The reason why this import was refused; undefined if it was not refused. */
  failure: Error | undefined

  /** @param begin.kind kind of the entry with which it began; by default `IMPORT_BEGIN_V1` */
  constructor(begin: Pick<ImportBegin, 'replace' | 'most'> & { readonly kind?: number | undefined }) {
    this.replace = begin.replace
    this.maxPrices = begin.most
    this.isV1 = begin.kind !== IMPORT_BEGIN
    const put = (price: Price) => {
      const problem = this.draft.put(price)
      if (!problem) this.#count()
      return problem
    }
    this.#reader = this.isV1
      ? new PriceLineReader(put, validateLoggedPriceLine, undefined, JSON.parse)
      : new PriceLineReader(put)
  }

  /**
   * Reads a piece. A piece that was read before is ignored.
   * @throws Problem `BAD_LINE`, `CATALOG_FULL`
   */
  async addPiece({ number, bytes, batch }: Omit<ImportPiece, 'id'>): Promise<void> {
    if (this.failure) throw this.failure
    if (number < this.#piecesRead) return
    this.#piecesRead = number + 1
    if (batch) return this.#addBatch(batch)
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      this.#reader.addChunk(bytes.subarray(from, from + SLICE_BYTES))
      await yieldTurn()
    }
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_EMPTY` */
  end(mayBeEmpty: boolean): void {
    if (this.failure) throw this.failure
    this.#reader.end()
    if (this.imported === 0 && !mayBeEmpty) throw errors.IMPORT_EMPTY()
  }

  #addBatch(batch: PriceBatch): void {
    this.draft.terms.append(batch.terms)
    this.draft.words.append(batch.words)
    for (const price of decodePriceBatch(batch, this.draft.words)) {
      this.draft.add(price)
      this.#count()
    }
  }

  #count(): void {
    this.imported++
    if (this.draft.size > this.maxPrices) throw errors.CATALOG_FULL(`more than ${this.maxPrices} prices`)
  }
}
