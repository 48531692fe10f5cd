import type { CatalogOwner } from './owner/catalog-owner.ts'
import { errors } from './errors.ts'
import type { Imported, ImportOptions, Imports } from './messages.ts'
import { PriceLineReader } from './price-line-reader.ts'

/** An import whose thread is silent for so long is given up: the thread may have died (ms). */
export const IMPORT_SILENCE = 60_000

/** The import under way, on main: one at a time, because each holds a whole catalog in the making. */
export class ImportSessions implements Imports {
  readonly #owner: CatalogOwner
  readonly #most: number
  #token = 0
  #current: PriceLineReader | undefined
  #mayBeEmpty = false
  #timer: NodeJS.Timeout | undefined

  constructor(owner: CatalogOwner, most: number) {
    this.#owner = owner
    this.#most = most
  }

  /** @throws Problem `IMPORT_RUNNING` */
  start({ replace, empty }: ImportOptions): number {
    if (this.#current) throw errors.IMPORT_RUNNING()
    this.#current = new PriceLineReader(this.#owner.draft(replace), replace, this.#most)
    this.#mayBeEmpty = empty || !replace
    this.#wait()
    return ++this.#token
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_LOST` */
  chunk(token: number, bytes: Uint8Array): void {
    const reader = this.#of(token)
    this.#wait()
    try {
      reader.take(bytes)
    } catch (error) {
      this.#drop()
      throw error
    }
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_EMPTY`, `IMPORT_LOST`, `TYPE_CONFLICT` */
  async end(token: number): Promise<Imported> {
    const reader = this.#of(token)
    clearTimeout(this.#timer)
    try {
      reader.end()
      if (reader.imported === 0 && !this.#mayBeEmpty) throw errors.IMPORT_EMPTY()
      return { imported: reader.imported, prices: await this.#owner.take(reader) }
    } finally {
      this.#drop()
    }
  }

  abort(token: number): void {
    if (token === this.#token) this.#drop()
  }

  close(): void {
    this.#drop()
  }

  #of(token: number): PriceLineReader {
    if (token !== this.#token || !this.#current) throw errors.IMPORT_LOST()
    return this.#current
  }

  #wait(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#drop(), IMPORT_SILENCE)
    this.#timer.unref()
  }

  #drop(): void {
    clearTimeout(this.#timer)
    this.#current = undefined
  }
}
