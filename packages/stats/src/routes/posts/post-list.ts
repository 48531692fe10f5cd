import { MAX_POSTS, parsePostKey, toPostKey, toPostReply, type PostResource } from '../../core/posts/post.ts'
import type { StateReader } from '../../state/stats-state.ts'

/** Returns the posts of a collection, in the order of their ids. */
export async function listPosts(state: Pick<StateReader, 'listRecords'>, collection: string): Promise<PostResource[]> {
  // Two nodes that add posts at the same time may exceed the limit.
  const found = await state.listRecords('post', { prefix: toPostKey(collection), limit: 2 * MAX_POSTS })
  return found.map(({ key, value }) => toPostReply(parsePostKey(key).post, value))
}
