import { hash } from 'node:crypto'
import { applyMask } from './fields.ts'
import { exists } from './figures.ts'
import type { GoogleError } from './google-errors.ts'
import { content } from './parts.ts'
import type { VideoQuery } from './query.ts'

const etagOf = (value: unknown) => hash('sha1', JSON.stringify(value), 'base64url')

// Google ends indented JSON with a line feed.
const toJson = (value: unknown, pretty: boolean) =>
  pretty ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value)

function videoOf(id: string, parts: ReadonlySet<string>, time: number) {
  const said: Record<string, unknown> = {}
  for (const [part, tell] of Object.entries(content)) if (parts.has(part)) said[part] = tell(id, time)
  return { kind: 'youtube#video', etag: etagOf([id, said]), id, ...said }
}

/** The body that answers a query at a time, and its ETag. Videos that do not exist, or are gone, are left out. */
export function renderVideos(
  query: VideoQuery,
  time: number,
  pretty: boolean,
  gone: readonly string[] = [],
): { body: string; etag: string } {
  const there = (id: string) => exists(id) && !gone.includes(id)
  const items = query.ids.filter(there).map((id) => videoOf(id, query.parts, time))
  const count = items.length
  const etag = etagOf(items.map((item) => item.etag))
  const list = {
    kind: 'youtube#videoListResponse',
    etag,
    items,
    pageInfo: { totalResults: count, resultsPerPage: count },
  }
  return { body: toJson(applyMask(list, query.mask), pretty), etag }
}

/** An error as Google's JSON. */
export function renderError({ entry }: GoogleError, pretty = true): string {
  const { status, message, domain, reason, location, locationType } = entry
  const error = { code: status, message, errors: [{ message, domain, reason, location, locationType }] }
  return toJson({ error }, pretty)
}
