import type { ImportedNumbers, ImportedRow, NumbersReport, RefusedRow } from '../core/posts/numbers-import.ts'
import type { Post, PostContent } from '../core/posts/post.ts'

export interface PostResult {
  readonly post: Post
  /** True if the post, or the time of its numbers, is new. */
  readonly isNew: boolean
}

/**
 * Changes of posts, on any thread. They are durable, and each is made with all its rows or not at all.
 * @throws Problem `COLLECTION_NOT_FOUND`; `STATE_UNAVAILABLE`, `LOG_UNAVAILABLE`: the change is not applied;
 * `OUTCOME_UNKNOWN`: it may have been applied, or may still be
 */
export interface Posts {
  /** Creates or replaces a post. Its numbers remain. @throws Problem `TOO_MANY_POSTS`, `DUPLICATE_POST` */
  put(collection: string, post: string, content: PostContent): Promise<PostResult>
  /** Deletes a post with its numbers. @throws Problem `POST_NOT_FOUND` */
  delete(collection: string, post: string): Promise<void>
  /**
   * Adds numbers, or replaces those of the same time.
   * @throws Problem `POST_NOT_FOUND`, `NUMBERS_IN_FUTURE`, `TOO_MANY_NUMBERS`
   */
  report(collection: string, post: string, numbers: NumbersReport): Promise<PostResult>
  /** Deletes the numbers of a time (ms since 1970). @throws Problem `POST_NOT_FOUND`, `NUMBERS_NOT_FOUND` */
  deleteNumbers(collection: string, post: string, at: number): Promise<void>
  /** Adds the numbers of many rows, without those that are refused. Of two rows with the same post and time the later counts. */
  reportMany(
    collection: string,
    rows: readonly (ImportedNumbers | RefusedRow)[],
    options: { readonly isDryRun: boolean },
  ): Promise<ImportedRow[]>
  /**
   * Adds posts and numbers, or replaces those with the same link and the same time. It deletes none. A dry run needs no
   * collection. Returns the number of posts that are added or changed.
   * @throws Problem `TOO_MANY_POSTS`, `NUMBERS_IN_FUTURE`, `TOO_MANY_NUMBERS`
   */
  importPosts(
    collection: string,
    posts: readonly ImportedPost[],
    options: { readonly isDryRun: boolean },
  ): Promise<number>
}

/** A post of a file, with some or all of its numbers. */
export interface ImportedPost {
  readonly id: string
  readonly content: PostContent
  readonly reports: readonly NumbersReport[]
}

export type PostMethod = keyof Posts

/** Calls a method of another thread. */
export const createRemotePosts = (call: (method: PostMethod, args: readonly unknown[]) => Promise<any>): Posts => ({
  put: (...args) => call('put', args),
  delete: (...args) => call('delete', args),
  report: (...args) => call('report', args),
  deleteNumbers: (...args) => call('deleteNumbers', args),
  reportMany: (...args) => call('reportMany', args),
  importPosts: (...args) => call('importPosts', args),
})
