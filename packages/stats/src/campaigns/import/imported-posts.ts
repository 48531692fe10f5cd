import type { CampaignPost } from '../../core/campaign-file/campaign-content.ts'
import { pickCounts } from '../../core/posts/post.ts'
import type { ImportedPost } from '../../posts/posts.ts'

/** Returns the posts of a file. Numbers without a time are those of now. */
export function toImportedPosts(posts: readonly CampaignPost[] = []): ImportedPost[] {
  const now = Date.now()
  return posts.map(({ id, numbers, reports = numbers ? [numbers] : [], ...content }) => ({
    id,
    content,
    reports: reports
      .map(({ at, note, ...counts }) => ({
        at: at === undefined ? now : Date.parse(at),
        ...pickCounts(counts),
        ...(note !== undefined && { note }),
      }))
      .filter((report) => Object.keys(pickCounts(report)).length > 0),
  }))
}
