import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { PostNumbers } from '../core/posts/post.ts'
import { toReportedPoints, type ReportedPoint, type ReportedRange } from '../core/posts/reported.ts'
import type { StateReader } from '../state/stats-state.ts'

const PAGE_SIZE = 1_000

/** Returns the reported sums of a collection over time: see `toReportedPoints`. Other work runs between two pages. */
export async function readReportedHistory(
  state: Pick<StateReader, 'listRecords'>,
  collection: string,
  range: ReportedRange,
): Promise<ReportedPoint[]> {
  const byPost = new Map<string, PostNumbers[]>()
  const prefix = `${collection}/`
  const readPage = (after: string) => state.listRecords('post-numbers', { prefix, after, limit: PAGE_SIZE })
  for (let after = '', page; (page = await readPage(after)).length > 0; await yieldTurn()) {
    for (const { key, value } of page) {
      const post = key.slice(prefix.length, key.lastIndexOf('/'))
      if (!byPost.get(post)?.push(value)) byPost.set(post, [value])
    }
    after = page.at(-1)!.key
    if (page.length < PAGE_SIZE) break
  }
  return toReportedPoints(byPost, range)
}
