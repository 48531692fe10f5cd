import { CatalogDraft } from '../core/catalog-draft.ts'
import type { ImportBegin } from '../core/log-entries.ts'
import { Terms } from '../core/terms.ts'
import { errors } from '../errors.ts'
import { PriceLineReader } from '../price-line-reader.ts'
import { validateLoggedPriceLine } from '../price-schema.ts'
import { yieldTurn } from '../event-loop-turns.ts'

/** So much is read before others have their turn (bytes). */
const SLICE_BYTES = 65_536

/**
 * An import on its way through the log. It is read by itself, without a look at the catalog, which goes on meanwhile: so it
 * does not matter when a node reads it. What stands to be judged again, because it could not be kept, is not read again.
 */
export class LoggedImport {
  readonly #reader: PriceLineReader
  #piecesRead = 0
  /** Why it is refused. */
  failure: Error | undefined

  constructor({ replace, most: maxPrices }: Pick<ImportBegin, 'replace' | 'most'>) {
    this.#reader = new PriceLineReader(new CatalogDraft(new Terms()), replace, maxPrices, validateLoggedPriceLine)
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL` */
  async take(number: number, bytes: Uint8Array): Promise<void> {
    if (this.failure) throw this.failure
    if (number < this.#piecesRead) return
    this.#piecesRead = number + 1
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      this.#reader.take(bytes.subarray(from, from + SLICE_BYTES))
      await yieldTurn()
    }
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_EMPTY` */
  end(mayBeEmpty: boolean): PriceLineReader {
    if (this.failure) throw this.failure
    this.#reader.end()
    if (this.#reader.imported === 0 && !mayBeEmpty) throw errors.IMPORT_EMPTY()
    return this.#reader
  }
}
