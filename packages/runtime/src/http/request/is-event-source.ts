import type { RequestHeaders } from '../../net/request.ts'

/**
 * True if the client is the EventSource of a browser: it stores an id only at an empty line, and takes a block without
 * data for no event. Its headers are those of a `fetch` that bypasses the cache, which libraries for event streams do
 * not send.
 */
export const isEventSource = (headers: RequestHeaders): boolean =>
  headers['sec-fetch-mode'] !== undefined && headers['cache-control'] === 'no-cache'
