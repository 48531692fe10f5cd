import type { FieldShape } from '../core/field-mask.ts'

/** Returns the shape of fields without fields below them. */
export const leaves = <Name extends string>(...names: Name[]): Record<Name, 'leaf'> =>
  Object.fromEntries(names.map((name) => [name, 'leaf'])) as Record<Name, 'leaf'>

const thumbnail = leaves('url', 'width', 'height')

/** Fields of every resource that has thumbnails. */
export const thumbnailsShape = {
  default: thumbnail,
  medium: thumbnail,
  high: thumbnail,
  standard: thumbnail,
  maxres: thumbnail,
}

/**
 * Returns the fields that the parameter `fields` may name in a list. `'any'` marks objects that the stand-in omits or
 * leaves empty: any field name is accepted below them.
 */
export const createListShape = (item: Readonly<Record<string, FieldShape>>): FieldShape => ({
  ...leaves('kind', 'etag', 'eventId', 'visitorId', 'nextPageToken', 'prevPageToken'),
  pageInfo: leaves('totalResults', 'resultsPerPage'),
  tokenPagination: {},
  items: { ...leaves('kind', 'etag', 'id'), ...item },
})
