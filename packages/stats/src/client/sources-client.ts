import type { ServiceRequestOptions } from '@influencer-stats/runtime/service-client'
import type { SourceStatus } from '../core/follow/source-status.ts'

/** Methods for the channels and playlists that a collection follows. `patch` with `sources` changes them. */
export interface SourcesClient {
  /** Lists the sources of a collection with their last and their next check. */
  listSources(id: string): Promise<readonly SourceStatus[] | undefined>
}

/** @param request returns a response; undefined if the resource does not exist */
export const createSourcesClient = (
  request: (method: string, path: string, options?: ServiceRequestOptions) => Promise<Response | undefined>,
): SourcesClient => ({
  async listSources(id) {
    const reply = await request('GET', `/collections/${encodeURIComponent(id)}/sources`)
    return ((await reply?.json()) as { sources: readonly SourceStatus[] } | undefined)?.sources
  },
})
