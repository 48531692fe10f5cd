import { ByteReader } from './byte-reader.ts'
import type { LiveTable } from './level-manifest.ts'
import { findInTableSync } from './read-table.ts'
import { readBatchHeader, WRITE_HEADER_BYTES } from './write-batch.ts'

/** Kind of a put, in a log and in a table. The other kind is a deletion. */
const PUT_KIND = 1

/** Searches the files of a database for one row, without LevelDB, which changes files when it opens a folder. */
export class RowSearch {
  readonly #key: Buffer
  /** The newest change of the row. */
  #last = { sequence: -1, isPut: false }
  #hasOthers = false
  #isReadable = true

  constructor(key: Buffer) {
    this.#key = key
  }

  /**
   * True if other rows were written and the row does not exist. False if a file cannot be read, which is reported as
   * other damage. Deleted rows count as other rows until a compaction.
   */
  get isMissing(): boolean {
    return this.#isReadable && this.#hasOthers && !this.#last.isPut
  }

  /** Searches a record of a log. */
  takeRecord(payload: Buffer): void {
    this.#try(() => {
      const batch = readBatchHeader(payload)
      if (!batch) return
      const reader = new ByteReader(payload.subarray(WRITE_HEADER_BYTES))
      for (let i = 0; i < batch.count; i++) {
        const isPut = reader.readByte() === PUT_KIND
        const key = reader.readPrefixed()
        if (isPut) reader.readPrefixed()
        if (key.equals(this.#key)) this.#take(batch.sequence + i, isPut)
        else this.#hasOthers ||= isPut
      }
    })
  }

  /** Searches a table. */
  takeTable(file: string, { smallest, largest }: LiveTable): void {
    this.#try(() => {
      const hasOneKey = smallest.equals(largest)
      if (!hasOneKey) this.#hasOthers = true
      // The table may contain only the deletion that `assertWritten` writes.
      else if (!smallest.equals(this.#key)) this.#hasOthers ||= findInTableSync(file, smallest)?.kind === PUT_KIND
      if (smallest.compare(this.#key) > 0 || largest.compare(this.#key) < 0) return
      const found = findInTableSync(file, this.#key)
      if (found) this.#take(found.sequence, found.kind === PUT_KIND)
    })
  }

  #take(sequence: number, isPut: boolean): void {
    if (sequence > this.#last.sequence) this.#last = { sequence, isPut }
  }

  #try(work: () => void): void {
    try {
      work()
    } catch {
      this.#isReadable = false
    }
  }
}
