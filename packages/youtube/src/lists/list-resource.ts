import type { FieldShape } from '../core/field-mask.ts'
import type { GoogleError } from '../core/google-errors.ts'
import type { ListQuery } from './list-query.ts'
import type { World } from '../world/world.ts'

/** The world of the stand-in at a time (ms since 1970). */
export interface WorldMoment {
  readonly world: World
  readonly time: number
}

/** Items of a page, and their position in the list. */
export interface Selection<Item> {
  readonly items: readonly Item[]
  /** Number of items on all pages. */
  readonly total: number
  readonly perPage: number
  readonly nextPageToken?: string
  readonly prevPageToken?: string
}

/** A resource of the API with a method `list`. */
export interface ListResource<Item> {
  /** Last part of the path. */
  readonly name: 'videos' | 'channels' | 'playlists' | 'playlistItems'
  /** `kind` of an item; that of the list is `${kind}ListResponse`. */
  readonly kind: string
  /** Parameters of which a call has exactly one. */
  readonly filters: readonly string[]
  /** Filters that require a signed-in user, or that the stand-in does not support: creates the error. */
  readonly refusedFilters: Readonly<Record<string, () => GoogleError>>
  /** Other parameters, in addition to those of all Google APIs. */
  readonly parameters: readonly string[]
  /**
   * For each part, the function that builds its content, in the order in which Google writes the parts. Undefined if the
   * item lacks the part.
   */
  readonly partBuilders: Readonly<
    Record<string, (item: Item, moment: WorldMoment) => Record<string, unknown> | undefined>
  >
  /** Valid parts that add nothing to a reply: the stand-in has no content for them, or every item contains it (`id`). */
  readonly partsWithoutContent: ReadonlySet<string>
  /** Parts that only an owner may read. */
  readonly ownerParts: Readonly<Record<string, () => GoogleError>>
  /** Fields that `fields` may name in an item. */
  readonly shape: Readonly<Record<string, FieldShape>>
  /** True if Google omits `items` from an empty list. */
  readonly omitsEmptyItems: boolean
  getId(item: Item): string
  /** @throws GoogleError */
  select(query: ListQuery, moment: WorldMoment): Selection<Item>
}

/** Returns the items of a call by ids, all in one page. */
export const selectAll = <Item>(items: readonly Item[]): Selection<Item> => ({
  items,
  total: items.length,
  perPage: items.length,
})
