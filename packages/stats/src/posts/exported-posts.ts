import type { CampaignPost, PostReport } from '../core/campaign-file/campaign-content.ts'
import { toIsoTime } from '../core/iso-time.ts'
import {
  MAX_POST_POINTS,
  MAX_POSTS,
  parsePostKey,
  toNumbersReply,
  toPostKey,
  type PostNumbers,
} from '../core/posts/post.ts'
import type { StateReader } from '../state/stats-state.ts'

/** Returns the posts of a collection for a file, with all their reports. */
export async function readExportedPosts(
  state: Pick<StateReader, 'listRecords'>,
  collection: string,
): Promise<CampaignPost[]> {
  const found = await state.listRecords('post', { prefix: toPostKey(collection), limit: 2 * MAX_POSTS })
  const posts: CampaignPost[] = []
  for (const { key, value } of found) {
    const { revision: _revision, points, last, ...content } = value
    const reports = points > 0 ? await readReports(state, key) : []
    const numbers = last && reports.length > 1 ? { ...last, at: toIsoTime(last.at) } : reports[0]
    posts.push({
      id: parsePostKey(key).post,
      ...content,
      ...(numbers && { numbers }),
      ...(reports.length > 1 && { reports }),
    })
  }
  return posts
}

/** @param key of the post */
async function readReports(state: Pick<StateReader, 'listRecords'>, key: string): Promise<PostReport[]> {
  const found = await state.listRecords('post-numbers', { prefix: `${key}/`, limit: 2 * MAX_POST_POINTS })
  return found.map(({ value }: { readonly value: PostNumbers }) => toNumbersReply(value))
}
