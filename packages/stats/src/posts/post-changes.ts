import type { ImportedNumbers, ImportedRow, NumbersReport, RefusedRow } from '../core/posts/numbers-import.ts'
import {
  findLastCounts,
  MAX_CLOCK_SKEW_MS,
  MAX_POST_POINTS,
  pickCounts,
  POST_COUNTS,
  toNumbersKey,
  toPostKey,
  type Post,
  type PostContent,
  type PostNumbers,
} from '../core/posts/post.ts'
import type { RecordChange } from '../core/record-kinds.ts'
import type { ImportedPost } from './posts.ts'

/** Posts of a collection by their ids. */
export type PostMap = ReadonlyMap<string, Post>

/** Returns the change that stores a post. @param before the stored post */
export const toPostChange = (
  collection: string,
  id: string,
  value: Post | undefined,
  before: Post | undefined,
): RecordChange => ({ kind: 'post', key: toPostKey(collection, id), value, before: before?.revision ?? 0 })

/** Returns a post with other content. Its numbers remain. */
export const withContent = (post: Post | undefined, content: PostContent, revision: number): Post => ({
  ...content,
  revision,
  points: post?.points ?? 0,
  ...(post?.last && { last: post.last }),
})

/** Returns the id of another post with this link. */
export const findDuplicate = (posts: PostMap, id: string, { url }: PostContent): string | undefined =>
  [...posts].find(([other, post]) => other !== id && post.url === url)?.[0]

export const isInFuture = (at: number, now: number): boolean => at > now + MAX_CLOCK_SKEW_MS

const CONTENT_FIELDS = ['platform', 'url', 'creator', 'title', 'published'] as const

const pickContent = (content: PostContent): PostContent =>
  Object.fromEntries(
    CONTENT_FIELDS.flatMap((name) => (content[name] === undefined ? [] : [[name, content[name]]])),
  ) as unknown as PostContent

const isSameContent = (one: PostContent, other: PostContent): boolean =>
  CONTENT_FIELDS.every((name) => one[name] === other[name])

const isSameReport = (one: PostNumbers | undefined, other: NumbersReport): boolean =>
  one !== undefined && one.note === other.note && POST_COUNTS.every((name) => one[name] === other[name])

/** Numbers of a post while reports are added to them, or deleted. */
export class PostHistory {
  readonly #collection: string
  readonly #id: string
  readonly #post: Post
  readonly #points: Map<number, PostNumbers>
  /** Changed numbers by their time; undefined if they were deleted. */
  readonly #changed = new Map<number, PostNumbers | undefined>()

  /** @param post the stored post; a new one has the revision 0 @param points the stored numbers */
  constructor(collection: string, id: string, post: Post, points: readonly PostNumbers[]) {
    this.#collection = collection
    this.#id = id
    this.#post = post
    this.#points = new Map(points.map((point) => [point.at, point]))
  }

  /** @returns undefined if the post would have too many numbers */
  add({ at, note, ...counts }: NumbersReport, revision: number): 'new' | 'replaced' | undefined {
    const isNew = !this.#points.has(at)
    if (isNew && this.#points.size >= MAX_POST_POINTS) return undefined
    const point = { at, ...pickCounts(counts), ...(note !== undefined && { note }), revision }
    this.#points.set(at, point)
    this.#changed.set(at, point)
    return isNew ? 'new' : 'replaced'
  }

  /** @returns false if there are no numbers of this time */
  delete(at: number): boolean {
    this.#changed.set(at, undefined)
    return this.#points.delete(at)
  }

  /** Returns the changed post. */
  toPost(revision: number): Post {
    const sorted = [...this.#points.values()].toSorted((a, b) => a.at - b.at)
    const last = findLastCounts(sorted)
    const { last: _last, ...post } = this.#post
    return { ...post, revision, points: sorted.length, ...(last && { last }) }
  }

  /** Adds those of some reports that change the numbers. @returns false if the post would have too many numbers */
  addChanged(reports: readonly NumbersReport[], revision: number): boolean {
    return reports
      .filter((report) => !isSameReport(this.#points.get(report.at), report))
      .every((one) => this.add(one, revision))
  }

  /** Returns the changes that store the numbers and the post. @param content replaces that of the post */
  toChanges(revision: number, content: PostContent = this.#post): RecordChange[] {
    const isNew = this.#post.revision === 0
    if (!isNew && this.#changed.size === 0 && isSameContent(content, this.#post)) return []
    const { points, last } = this.toPost(revision)
    return [
      toPostChange(
        this.#collection,
        this.#id,
        { ...pickContent(content), revision, points, ...(last && { last }) },
        isNew ? undefined : this.#post,
      ),
      ...[...this.#changed].map(([at, value]) => ({
        kind: 'post-numbers' as const,
        key: toNumbersKey(this.#collection, this.#id, at),
        value,
      })),
    ]
  }
}

const refuse = (line: number, reason: RefusedRow['reason'], detail?: string): RefusedRow => ({
  line,
  state: 'refused',
  reason,
  ...(detail !== undefined && { detail }),
})

/** Returns the ids of the posts that rows name, by row. */
export function findNamedPosts(posts: PostMap, rows: readonly (ImportedNumbers | RefusedRow)[]) {
  const byUrl = new Map([...posts].map(([id, { url }]) => [url, id]))
  return rows.map((row) => {
    if ('state' in row) return undefined
    const id = row.post ?? byUrl.get(row.url ?? '')
    return id !== undefined && posts.has(id) ? id : undefined
  })
}

/** Adds the numbers of rows to the histories of their posts. @param ids as `findNamedPosts` returns them */
export function addRows(
  rows: readonly (ImportedNumbers | RefusedRow)[],
  ids: readonly (string | undefined)[],
  histories: ReadonlyMap<string, PostHistory>,
  { now, revision }: { readonly now: number; readonly revision: number },
): ImportedRow[] {
  return rows.map((row, i) => {
    if ('state' in row) return row
    const { line, numbers } = row
    const id = ids[i]
    if (id === undefined) return refuse(line, 'POST_NOT_FOUND', row.post ?? row.url)
    if (isInFuture(numbers.at, now)) return refuse(line, 'NUMBERS_IN_FUTURE', new Date(numbers.at).toISOString())
    const state = histories.get(id)!.add(numbers, revision)
    return state ? { line, state, post: id } : refuse(line, 'TOO_MANY_NUMBERS', id)
  })
}

/** Returns the posts of a file by their ids. A post with the link of a stored one has the id of that one. */
export function mergeImported(posts: PostMap, imported: readonly ImportedPost[]): Map<string, ImportedPost> {
  const byUrl = new Map([...posts].map(([id, { url }]) => [url, id]))
  const merged = new Map<string, ImportedPost>()
  for (const { id: ownId, content, reports } of imported) {
    const id = byUrl.get(content.url) ?? ownId
    byUrl.set(content.url, id)
    const first = merged.get(id)
    merged.set(id, { id, content, reports: [...(first?.reports ?? []), ...reports] })
  }
  return merged
}
