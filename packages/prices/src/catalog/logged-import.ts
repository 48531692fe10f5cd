import { CatalogDraft } from '../core/catalog-draft.ts'
import type { ImportBegin } from './log-entries.ts'
import { Terms } from '../core/terms.ts'
import { errors } from '../errors.ts'
import { PriceLineReader } from './price-line-reader.ts'
import { validateLoggedPriceLine } from '../price-schema.ts'
import { yieldTurn } from '../event-loop-turns.ts'

/** Bytes that are read before the loop yields to other work. */
const SLICE_BYTES = 65_536

/**
 * An import from the log. It is parsed without the catalog, which changes meanwhile, so the time at which a node parses
 * it has no effect. After a failed write the import is evaluated again, but not parsed again.
 */
export class LoggedImport {
  readonly #reader: PriceLineReader
  #piecesRead = 0
  /** The reason why this import was refused; undefined if it was not refused. */
  failure: Error | undefined

  constructor({ replace, most: maxPrices }: Pick<ImportBegin, 'replace' | 'most'>) {
    this.#reader = new PriceLineReader(new CatalogDraft(new Terms()), replace, maxPrices, validateLoggedPriceLine)
  }

  /**
   * Parses a piece. A piece that was parsed before is ignored.
   * @throws Problem `BAD_LINE`, `CATALOG_FULL`
   */
  async addPiece(number: number, bytes: Uint8Array): Promise<void> {
    if (this.failure) throw this.failure
    if (number < this.#piecesRead) return
    this.#piecesRead = number + 1
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      this.#reader.addChunk(bytes.subarray(from, from + SLICE_BYTES))
      await yieldTurn()
    }
  }

  /**
   * Returns the reader with the parsed prices.
   * @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_EMPTY`
   */
  end(mayBeEmpty: boolean): PriceLineReader {
    if (this.failure) throw this.failure
    this.#reader.end()
    if (this.#reader.imported === 0 && !mayBeEmpty) throw errors.IMPORT_EMPTY()
    return this.#reader
  }
}
