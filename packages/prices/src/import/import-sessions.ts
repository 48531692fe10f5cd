import type { PriceCatalog } from '../catalog/price-catalog.ts'
import { errors } from '../errors.ts'
import type { ImportResult, ImportOptions, ImportHandler } from '../messages.ts'
import { PriceLineReader } from '../catalog/price-line-reader.ts'

/** An import without calls from its thread for this time is aborted: the thread may have died (ms). */
export const IMPORT_IDLE_TIMEOUT_MS = 60_000

/**
 * The running import, on the main thread. There is at most one, because an import can hold a whole new catalog in
 * memory.
 */
export class ImportSessions implements ImportHandler {
  readonly #catalog: PriceCatalog
  readonly #maxPrices: number
  #token = 0
  #current: PriceLineReader | undefined
  #mayBeEmpty = false
  #timer: NodeJS.Timeout | undefined

  constructor(catalog: PriceCatalog, maxPrices: number) {
    this.#catalog = catalog
    this.#maxPrices = maxPrices
  }

  /** @throws Problem `IMPORT_RUNNING` */
  start({ replace, empty }: ImportOptions): number {
    if (this.#current) throw errors.IMPORT_RUNNING()
    this.#current = new PriceLineReader(this.#catalog.createDraft(replace), replace, this.#maxPrices)
    this.#mayBeEmpty = empty || !replace
    this.#restartTimer()
    return ++this.#token
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_LOST` */
  addChunk(token: number, bytes: Uint8Array): void {
    const reader = this.#getReader(token)
    this.#restartTimer()
    try {
      reader.addChunk(bytes)
    } catch (error) {
      this.#dropImport()
      throw error
    }
  }

  /**
   * @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_EMPTY`, `IMPORT_LOST`, `TYPE_CONFLICT`, `DISK_FULL`,
   * `STORE_FAILED`
   */
  async end(token: number): Promise<ImportResult> {
    const reader = this.#getReader(token)
    clearTimeout(this.#timer)
    try {
      reader.end()
      if (reader.imported === 0 && !this.#mayBeEmpty) throw errors.IMPORT_EMPTY()
      return { imported: reader.imported, prices: await this.#catalog.takeImport(reader) }
    } finally {
      this.#dropImport()
    }
  }

  abort(token: number): void {
    if (token === this.#token) this.#dropImport()
  }

  close(): void {
    this.#dropImport()
  }

  #getReader(token: number): PriceLineReader {
    if (token !== this.#token || !this.#current) throw errors.IMPORT_LOST()
    return this.#current
  }

  #restartTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#dropImport(), IMPORT_IDLE_TIMEOUT_MS)
    this.#timer.unref()
  }

  #dropImport(): void {
    clearTimeout(this.#timer)
    this.#current = undefined
  }
}
