import { errors } from '../../src/errors.ts'
import { toSnapshot } from '../../src/core/numbers.ts'
import type { UpstreamReader } from '../../src/upstream-reader.ts'
import type { Collection } from '../../src/state/state.ts'
import { numbersOf } from './numbers.ts'

/** An upstream whose numbers a test sets. Ids that end in `_` are missing. */
export class FakeUpstreamReader implements UpstreamReader {
  /** Views of every video. */
  views = 1
  /** Fails, with nothing known, while set. */
  down = false
  /** Gives old numbers, marked stale, while set. */
  stale = false
  reads: string[] = []
  /** While set, reads wait for it. */
  gate: Promise<void> | undefined

  async read({ id, videos }: Collection) {
    this.reads.push(id)
    const { views, down, stale } = this
    await this.gate
    if (down) throw errors.UPSTREAM_UNAVAILABLE(undefined, { headers: { 'retry-after': '1' } })
    const found = videos.filter((video) => !video.endsWith('_')).map((video) => numbersOf(video, views))
    return { snapshot: toSnapshot(videos, found, Date.now()), stale }
  }
}
