import type { OverviewSource } from '../campaigns/overview/overview-source.ts'
import type { ReplyTable } from './reply-table.ts'

/** Rows of an overview: every collection with the numbers of its reply. */
export class PolledRows implements OverviewSource {
  readonly #getTable: () => ReplyTable
  #onChange: ((id?: string) => void) | undefined

  /** @param getTable returns the current table, which is replaced when the source changes */
  constructor(getTable: () => ReplyTable) {
    this.#getTable = getTable
  }

  readPages() {
    return this.#getTable().rows.readPages()
  }

  getRow(id: string) {
    return this.#getTable().rows.getRow(id)
  }

  watch(onChange: (id?: string) => void): void {
    this.#onChange = onChange
  }

  /** Reports a changed row, or without an id that all rows are replaced. */
  reportChange = (id?: string): void => this.#onChange?.(id)
}
