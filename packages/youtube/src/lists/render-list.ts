import { hash } from 'node:crypto'
import { applyMask } from '../core/field-mask.ts'
import type { GoogleError } from '../core/google-errors.ts'
import type { ListQuery } from './list-query.ts'
import type { ListResource, WorldMoment } from './list-resource.ts'

const toEtag = (value: unknown) => hash('sha1', JSON.stringify(value), 'base64url')

// Google ends indented JSON with a line feed.
const toJson = (value: unknown, pretty: boolean) =>
  pretty ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value)

function buildItem<Item>(
  { kind, partBuilders, getId }: ListResource<Item>,
  item: Item,
  parts: ReadonlySet<string>,
  moment: WorldMoment,
) {
  const content: Record<string, unknown> = {}
  for (const [part, build] of Object.entries(partBuilders)) {
    const built = parts.has(part) ? build(item, moment) : undefined
    if (built) content[part] = built
  }
  const id = getId(item)
  return { kind, etag: toEtag([id, content]), id, ...content }
}

/**
 * Renders the reply body to a query, and its ETag, which is independent of `fields`.
 * @throws GoogleError if the call names a list that does not exist
 */
export function renderList<Item>(
  resource: ListResource<Item>,
  query: ListQuery,
  moment: WorldMoment,
  pretty: boolean,
): { body: string; etag: string } {
  const { items: selected, total, perPage, ...tokens } = resource.select(query, moment)
  const items = selected.map((item) => buildItem(resource, item, query.parts, moment))
  const etag = toEtag([total, tokens, items.map((item) => item.etag)])
  const list = {
    kind: `${resource.kind}ListResponse`,
    etag,
    ...tokens,
    ...((items.length > 0 || !resource.omitsEmptyItems) && { items }),
    pageInfo: { totalResults: total, resultsPerPage: perPage },
  }
  return { body: toJson(applyMask(list, query.mask), pretty), etag }
}

/** Renders an error as Google's JSON. */
export function renderError({ entry }: GoogleError, pretty = true): string {
  const { status, message, domain, reason, location, locationType } = entry
  const error = { code: status, message, errors: [{ message, domain, reason, location, locationType }] }
  return toJson({ error }, pretty)
}
