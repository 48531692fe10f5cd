import { randomBytes } from 'node:crypto'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { errors } from './errors.ts'
import type { SavedView } from './messages.ts'
import type { ViewContent } from './page/core/home-query.ts'
import { readRows } from './stored-rows.ts'

const MAX_VIEWS = 100
const ROW_PREFIX = 'views/'

/** The saved views of the list of campaigns, which all users of the dashboard share. Main thread only. */
export class SavedViews {
  readonly #level: SharedLevel
  readonly #views: Map<string, SavedView>

  private constructor(level: SharedLevel, views: Map<string, SavedView>) {
    this.#level = level
    this.#views = views
  }

  /** @throws StartError `DATA_DAMAGED` */
  static async open(level: SharedLevel, folder: string): Promise<SavedViews> {
    return new SavedViews(level, await readRows(level, folder, ROW_PREFIX, parseView))
  }

  /** All views, in the order of their names. */
  list(): readonly SavedView[] {
    return [...this.#views.values()].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
  }

  /** @throws Problem `VIEW_EXISTS`, `TOO_MANY_VIEWS`, `DISK_FULL`, `STORE_FAILED` */
  async add(content: ViewContent): Promise<SavedView> {
    if (this.#views.size >= MAX_VIEWS) throw errors.TOO_MANY_VIEWS(`maximum of ${MAX_VIEWS} views`)
    if (this.list().some(({ name }) => name === content.name)) throw errors.VIEW_EXISTS()
    const view: SavedView = { id: randomBytes(9).toString('base64url'), ...content }
    // Present before it is stored: another request with this name is refused.
    this.#views.set(view.id, view)
    try {
      await this.#level.write((db) => db.put(ROW_PREFIX + view.id, JSON.stringify(view), { sync: true }))
    } catch (error) {
      this.#views.delete(view.id)
      throw error
    }
    return view
  }

  /** @returns true if the view existed */
  async remove(id: string): Promise<boolean> {
    if (!this.#views.has(id)) return false
    await this.#level.write((db) => db.del(ROW_PREFIX + id, { sync: true }))
    return this.#views.delete(id)
  }
}

/** Parses a stored view. Undefined if the text is not a view. */
function parseView(text: string): SavedView | undefined {
  try {
    const view: Partial<SavedView> | null = JSON.parse(text)
    return typeof view?.name === 'string' ? (view as SavedView) : undefined
  } catch {
    return undefined
  }
}
