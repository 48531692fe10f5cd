import { Draft } from '../core/draft.ts'
import type { ImportBegins } from '../core/log-entries.ts'
import { Terms } from '../core/terms.ts'
import { errors } from '../errors.ts'
import { PriceLineReader } from '../price-line-reader.ts'
import { loggedPriceFault } from '../price-schema.ts'
import { yieldTurn } from '../turn.ts'

/** So much is read before others have their turn (bytes). */
const SLICE = 65_536

/**
 * An import on its way through the log. It is read by itself, without a look at the catalog, which goes on meanwhile: so it
 * does not matter when a node reads it. What stands to be judged again, because it could not be kept, is not read again.
 */
export class LoggedImport {
  readonly #reader: PriceLineReader
  #taken = 0
  /** Why it is refused. */
  failure: Error | undefined

  constructor({ replace, most }: Pick<ImportBegins, 'replace' | 'most'>) {
    this.#reader = new PriceLineReader(new Draft(new Terms()), replace, most, loggedPriceFault)
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL` */
  async take(number: number, bytes: Uint8Array): Promise<void> {
    if (this.failure) throw this.failure
    if (number < this.#taken) return
    this.#taken = number + 1
    for (let from = 0; from < bytes.length; from += SLICE) {
      this.#reader.take(bytes.subarray(from, from + SLICE))
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
