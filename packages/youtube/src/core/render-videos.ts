import { hash } from 'node:crypto'
import { applyMask } from './field-mask.ts'
import { isVideoPresent } from './video-counts.ts'
import type { GoogleError } from './google-errors.ts'
import { partBuilders } from './video-parts.ts'
import type { VideoQuery } from './videos-query.ts'

const toEtag = (value: unknown) => hash('sha1', JSON.stringify(value), 'base64url')

// Google ends indented JSON with a line feed.
const toJson = (value: unknown, pretty: boolean) =>
  pretty ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value)

function buildVideo(id: string, parts: ReadonlySet<string>, time: number) {
  const content: Record<string, unknown> = {}
  for (const [part, build] of Object.entries(partBuilders)) if (parts.has(part)) content[part] = build(id, time)
  return { kind: 'youtube#video', etag: toEtag([id, content]), id, ...content }
}

/**
 * Renders the reply body to a query, and its ETag. Videos that do not exist, or are in `removedIds`, are omitted.
 * @param time ms since 1970
 */
export function renderVideos(
  query: VideoQuery,
  time: number,
  pretty: boolean,
  removedIds: readonly string[] = [],
): { body: string; etag: string } {
  const isPresent = (id: string) => isVideoPresent(id) && !removedIds.includes(id)
  const items = query.ids.filter(isPresent).map((id) => buildVideo(id, query.parts, time))
  const count = items.length
  const etag = toEtag(items.map((item) => item.etag))
  const list = {
    kind: 'youtube#videoListResponse',
    etag,
    items,
    pageInfo: { totalResults: count, resultsPerPage: count },
  }
  return { body: toJson(applyMask(list, query.mask), pretty), etag }
}

/** Renders an error as Google's JSON. */
export function renderError({ entry }: GoogleError, pretty = true): string {
  const { status, message, domain, reason, location, locationType } = entry
  const error = { code: status, message, errors: [{ message, domain, reason, location, locationType }] }
  return toJson({ error }, pretty)
}
