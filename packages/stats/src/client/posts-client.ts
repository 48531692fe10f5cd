import { toCollectionPath, type ClientRequest } from './client-request.ts'
import type { ImportedRow } from '../core/posts/numbers-import.ts'
import type { PostContent, PostCounts, PostResource } from '../core/posts/post.ts'
import type { Reported, ReportedSums } from '../core/posts/reported.ts'
import type { Summary } from '../core/prepared-reply.ts'

export type { ImportedRow, PostCounts, PostResource, Reported }

/** The sums of a collection. Times are ISO 8601 strings, as in JSON. */
export interface Stats extends Summary {
  /** True if the numbers are older than two refresh intervals. */
  readonly stale: boolean
  /** Origin of the numbers. The numbers of `stand-in` are invented. */
  readonly source?: string
  /** Sums of the posts of other platforms, which are not part of the other sums. Absent without posts. */
  readonly reported?: Reported
}

/** A post in a request. The link is normalised. */
export type NewPost = Omit<PostContent, 'platform'> & Partial<Pick<PostContent, 'platform'>>

/** Numbers of a post in a request: at least one count. */
export interface NewNumbers extends PostCounts {
  /** Default: now. */
  readonly at?: string
  readonly note?: string
}

export type PostNumbersResource = NewNumbers & { readonly at: string }

/** Reported sums from `at` until the next point. */
export interface ReportedHistoryPoint extends ReportedSums {
  readonly at: string
}

export interface ImportedNumbersReply {
  readonly stored: number
  readonly refused: number
  readonly rows: readonly ImportedRow[]
  readonly unknownHeadings: readonly string[]
}

export interface ReportedHistoryOptions {
  readonly from?: Date
  readonly to?: Date
  /** Width of a step (s): at most one point per step. */
  readonly step?: number
}

/** Methods for the posts of other platforms. */
export interface PostsClient {
  /** Lists the posts of a collection with their last numbers, in the order of their ids. */
  listPosts(id: string): Promise<readonly PostResource[] | undefined>
  /** Adds a post by its link, or replaces it. Its id is the platform and the id of the link. */
  addPost(id: string, content: NewPost): Promise<PostResource | undefined>
  putPost(id: string, post: string, content: NewPost): Promise<PostResource | undefined>
  /** Deletes a post with its numbers. @returns true if it existed */
  deletePost(id: string, post: string): Promise<boolean>
  /** Reports the numbers of a post at a time. */
  reportNumbers(id: string, post: string, numbers: NewNumbers): Promise<PostResource | undefined>
  /** Lists the numbers of a post, the oldest first. */
  listNumbers(id: string, post: string): Promise<readonly PostNumbersResource[] | undefined>
  /** Deletes the numbers of a time. @param at as in `listNumbers` @returns true if they existed */
  deleteNumbers(id: string, post: string, at: string): Promise<boolean>
  /** Imports the numbers of posts from a CSV file. @param isDryRun true to store nothing */
  importNumbers(id: string, csv: string, isDryRun?: boolean): Promise<ImportedNumbersReply | undefined>
  /** Returns the reported sums over time; the first point may be before `from`. */
  getReportedHistory(id: string, options?: ReportedHistoryOptions): Promise<readonly ReportedHistoryPoint[] | undefined>
}

/** Codes of posts and numbers that do not exist. */
export const POST_MISS_CODES = ['POST_NOT_FOUND', 'NUMBERS_NOT_FOUND'] as const

export function createPostsClient(request: ClientRequest): PostsClient {
  async function read<T>(...args: Parameters<typeof request>): Promise<T | undefined> {
    return (await request(...args))?.json() as Promise<T | undefined>
  }
  const toPostPath = (id: string, post: string) => `${toCollectionPath(id)}/posts/${encodeURIComponent(post)}`
  return {
    listPosts: async (id) => (await read<{ posts: PostResource[] }>('GET', `${toCollectionPath(id)}/posts`))?.posts,
    addPost: (id, json) => read('POST', `${toCollectionPath(id)}/posts`, { json }),
    putPost: (id, post, json) => read('PUT', toPostPath(id, post), { json }),
    deletePost: async (id, post) => (await request('DELETE', toPostPath(id, post))) !== undefined,
    reportNumbers: (id, post, json) => read('POST', `${toPostPath(id, post)}/numbers`, { json }),
    listNumbers: async (id, post) =>
      (await read<{ numbers: PostNumbersResource[] }>('GET', `${toPostPath(id, post)}/numbers`))?.numbers,
    deleteNumbers: async (id, post, at) =>
      (await request('DELETE', `${toPostPath(id, post)}/numbers/${encodeURIComponent(at)}`)) !== undefined,
    importNumbers: (id, body, dryRun = false) =>
      read('POST', `${toCollectionPath(id)}/reported/numbers`, {
        query: { dryRun },
        body,
        headers: { 'content-type': 'text/csv' },
      }),
    async getReportedHistory(id, { from, to, step } = {}) {
      const query = { from: from?.toISOString(), to: to?.toISOString(), step }
      return (
        await read<{ points: ReportedHistoryPoint[] }>('GET', `${toCollectionPath(id)}/reported/history`, { query })
      )?.points
    },
  }
}
