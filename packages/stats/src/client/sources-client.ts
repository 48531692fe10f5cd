import { toCollectionPath, type ClientRequest } from './client-request.ts'
import type { SourceStatus } from '../core/follow/source-status.ts'

/** Methods for the channels and playlists that a collection follows. `patch` with `sources` changes them. */
export interface SourcesClient {
  /** Lists the sources of a collection with their last and their next check. */
  listSources(id: string): Promise<readonly SourceStatus[] | undefined>
}

export const createSourcesClient = (request: ClientRequest): SourcesClient => ({
  async listSources(id) {
    const reply = await request('GET', `${toCollectionPath(id)}/sources`)
    return ((await reply?.json()) as { sources: readonly SourceStatus[] } | undefined)?.sources
  },
})
