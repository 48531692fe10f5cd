import { embed, type Overrides } from '@influencer-stats/runtime/embed'
import { Client } from 'undici'
import { createControl, type StandInControl } from '../../src/client.ts'
import { youtube } from '../../src/service.ts'

/** A running stand-in and helpers for tests. */
export interface StandIn {
  readonly url: string
  readonly control: StandInControl
  /** Returns the URL of a call with a valid key. */
  buildVideosUrl(parameters?: Record<string, string>): string
  get(parameters?: Record<string, string>, headers?: Record<string, string>): Promise<Response>
  stop(): Promise<boolean>
}

const SERVICES = new URL('../../../../services.ts', import.meta.url).href

export const FIXED_ID = '-4lB5EKS5Uk'
export const FIXED_COUNTS = {
  viewCount: '261734',
  likeCount: '14237',
  dislikeCount: '928',
  favoriteCount: '8001',
  commentCount: '451',
}

export async function startStandIn(overrides: Overrides = {}): Promise<StandIn> {
  const { url, stop } = await embed(youtube, overrides, SERVICES)
  const buildVideosUrl = (parameters: Record<string, string> = {}) =>
    `${url}/youtube/v3/videos?${new URLSearchParams({ part: 'statistics', id: FIXED_ID, key: 'stand-in', ...parameters })}`
  return {
    url,
    control: createControl(url),
    buildVideosUrl,
    get: (parameters, headers) => fetch(buildVideosUrl(parameters), { headers }),
    stop,
  }
}

/** Fetches a response that is one of Google's errors: its status and its first error. */
export async function readError(response: Response) {
  const { error } = (await response.json()) as any
  return { status: response.status, code: error.code, ...error.errors[0] }
}

/** Sends a GET on a new connection, so that with several threads any of them may answer. */
export async function getOnNewConnection(url: string) {
  const { origin, pathname, search } = new URL(url)
  const client = new Client(origin)
  try {
    const { statusCode, headers, body } = await client.request({ method: 'GET', path: pathname + search })
    // Each thread has a separate prefix for request ids.
    const thread = String(headers['x-request-id']).split('-')[0]
    return { status: statusCode, thread, text: await body.text() }
  } finally {
    await client.close()
  }
}

/** Runs `count` calls of `getAnew` concurrently. */
export const getAllOnNewConnections = (url: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => getOnNewConnection(url)))
