import type { CallOptions, RequestParts } from '../core/requester.ts'
import type { components } from '../generated/stats.ts'

type PostSchemas = components['schemas']

/** A post of another platform, with its last reported numbers. */
export type Post = PostSchemas['Post']
export type NewPost = PostSchemas['NewPost']
/** Numbers of a post: at least one count. */
export type NewNumbers = PostSchemas['NewNumbersOfAPost']
export type PostNumbers = PostSchemas['NumbersOfAPost']['numbers'][number]
/** Result of each row of a file with numbers. */
export type ImportedNumbers = PostSchemas['ImportedNumbers']
export type ReportedPoint = PostSchemas['HistoryOfReportedSums']['points'][number]

export interface ImportNumbersOptions extends CallOptions {
  readonly dryRun?: boolean | undefined
}

export interface ReportedHistoryOptions extends CallOptions {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** Width of a step (s): at most one point per step. */
  readonly step?: number | undefined
}

/** Methods for the posts of other platforms. */
export interface PostsClient {
  /** Resolves with the posts of other platforms, in the order of their ids. */
  listPosts(id: string, options?: CallOptions): Promise<readonly Post[] | undefined>
  /** Adds a post by its link, or replaces it. Its id is the platform and the id of the link. */
  addPost(id: string, post: NewPost, options?: CallOptions): Promise<Post | undefined>
  putPost(id: string, postId: string, post: NewPost, options?: CallOptions): Promise<Post | undefined>
  /** Deletes a post with its numbers. @returns true if it existed */
  deletePost(id: string, postId: string, options?: CallOptions): Promise<boolean>
  /** Reports the numbers of a post at a time. */
  reportNumbers(id: string, postId: string, numbers: NewNumbers, options?: CallOptions): Promise<Post | undefined>
  /** Resolves with the numbers of a post, the oldest first. */
  listNumbers(id: string, postId: string, options?: CallOptions): Promise<readonly PostNumbers[] | undefined>
  /** Deletes the numbers of a time. @param at as in `listNumbers` @returns true if they existed */
  deleteNumbers(id: string, postId: string, at: string, options?: CallOptions): Promise<boolean>
  /** Imports the numbers of posts from a CSV file. `dryRun`: stores nothing. */
  importNumbers(id: string, csv: string, options?: ImportNumbersOptions): Promise<ImportedNumbers | undefined>
  /** Resolves with the reported sums over time; the first point may be before `from`. */
  getReportedHistory(id: string, options?: ReportedHistoryOptions): Promise<readonly ReportedPoint[] | undefined>
}

/** Codes of posts and numbers that do not exist. */
export const POST_MISS_CODES = ['POST_NOT_FOUND', 'NUMBERS_NOT_FOUND'] as const

/** The requests that the methods send. They resolve with undefined, or false, if the resource does not exist. */
interface PostRequests {
  read<T>(method: string, path: string, parts: RequestParts): Promise<T | undefined>
  sendDelete(path: string, call?: CallOptions): Promise<boolean>
}

export function createPostsClient({ read, sendDelete }: PostRequests): PostsClient {
  const toPath = (id: string) => `/collections/${encodeURIComponent(id)}`
  const toPostPath = (id: string, post: string) => `${toPath(id)}/posts/${encodeURIComponent(post)}`
  return {
    listPosts: async (id, call) => (await read<PostSchemas['Posts']>('GET', `${toPath(id)}/posts`, { call }))?.posts,
    addPost: (id, json, call) => read('POST', `${toPath(id)}/posts`, { json, call }),
    putPost: (id, post, json, call) => read('PUT', toPostPath(id, post), { json, call }),
    deletePost: (id, post, call) => sendDelete(toPostPath(id, post), call),
    reportNumbers: (id, post, json, call) => read('POST', `${toPostPath(id, post)}/numbers`, { json, call }),
    listNumbers: async (id, post, call) =>
      (await read<PostSchemas['NumbersOfAPost']>('GET', `${toPostPath(id, post)}/numbers`, { call }))?.numbers,
    deleteNumbers: (id, post, at, call) =>
      sendDelete(`${toPostPath(id, post)}/numbers/${encodeURIComponent(at)}`, call),
    importNumbers: (id, body, { dryRun, ...importCall } = {}) =>
      read('POST', `${toPath(id)}/reported/numbers`, {
        query: { dryRun },
        body,
        headers: { 'content-type': 'text/csv' },
        call: importCall,
      }),
    async getReportedHistory(id, { from, to, step, ...readCall } = {}) {
      const query = { from: from?.toISOString(), to: to?.toISOString(), step }
      const path = `${toPath(id)}/reported/history`
      return (await read<PostSchemas['HistoryOfReportedSums']>('GET', path, { query, call: readCall }))?.points
    },
  }
}
