import type { Problem } from '@influencer-stats/runtime/problems'
import type { VideoClient } from '../../src/youtube/video-client.ts'
import { errors } from '../../src/errors.ts'
import { createNumbers } from './video-numbers.ts'

/** A client whose numbers a test sets. Ids that end in `_` are missing. */
export class FakeClient implements VideoClient {
  readonly idsPerCall = 50
  /** Views of every video. */
  views = 1
  /** Fails while set. */
  down = false
  /** The ids of every call. */
  calls: (readonly string[])[] = []
  /** While set, calls wait for it. */
  hold: Promise<void> | undefined

  async call(ids: readonly string[]) {
    this.calls.push(ids)
    const { views, down } = this
    await this.hold
    if (down) throw errors.UPSTREAM_UNAVAILABLE()
    return { found: ids.filter((id) => !id.endsWith('_')).map((id) => createNumbers(id, views)), failed: [] }
  }

  async fetch(ids: readonly string[]) {
    try {
      return await this.call(ids)
    } catch (fault) {
      return { found: [], failed: ids, fault: fault as Problem }
    }
  }

  /** The tests of this client make no side calls. */
  readonly side = undefined as never

  async close() {}
}
