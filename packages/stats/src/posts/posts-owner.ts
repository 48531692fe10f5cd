import { randomInt } from 'node:crypto'
import type { ImportedNumbers, ImportedRow, NumbersReport, RefusedRow } from '../core/posts/numbers-import.ts'
import {
  MAX_POST_POINTS,
  MAX_POSTS,
  parsePostKey,
  toNumbersKey,
  toPostKey,
  type Post,
  type PostContent,
} from '../core/posts/post.ts'
import type { RecordChange, RecordEdit } from '../core/record-kinds.ts'
import { errors } from '../errors.ts'
import type { MaybePromise, StatsState } from '../state/stats-state.ts'
import {
  addRows,
  findDuplicate,
  findNamedPosts,
  isInFuture,
  mergeImported,
  PostHistory,
  toPostChange,
  withContent,
  type PostMap,
} from './post-changes.ts'
import type { ImportedPost, PostResult, Posts } from './posts.ts'

/** Owner of the state, which orders all changes. */
export interface RecordOwner {
  readonly state: Pick<StatsState, 'get' | 'listRecords'>
  changeRecords<T>(compute: () => Promise<RecordEdit<T>>): Promise<T>
}

export interface PostsOwnerOptions {
  readonly collections: RecordOwner
  /** Called after the posts of a collection changed, or may have changed, before the caller gets its response. */
  onChange(collection: string): MaybePromise<void>
}

/** Upper bound of the stored numbers of a post: two nodes that add some at the same time may exceed the limit. */
const MAX_READ_POINTS = 2 * MAX_POST_POINTS

/** Changes the posts of collections, on the thread that owns the state. */
export class PostsOwner implements Posts {
  readonly #options: PostsOwnerOptions

  constructor(options: PostsOwnerOptions) {
    this.#options = options
  }

  put(collection: string, id: string, content: PostContent): Promise<PostResult> {
    return this.#change(collection, (posts) => {
      const before = posts.get(id)
      if (!before && posts.size >= MAX_POSTS) throw errors.TOO_MANY_POSTS(`maximum of ${MAX_POSTS} posts`)
      const other = findDuplicate(posts, id, content)
      if (other !== undefined) throw errors.DUPLICATE_POST(`the post ${other} has this link`)
      const post = withContent(before, content, createRevision(before))
      return { changes: [toPostChange(collection, id, post, before)], result: { post, isNew: !before } }
    })
  }

  async delete(collection: string, id: string): Promise<void> {
    await this.#change(collection, async (posts) => {
      const before = requirePost(posts, id)
      const numbers = await this.#readNumbers(collection, id)
      const deletions = numbers.map(({ at }): RecordChange => ({
        kind: 'post-numbers',
        key: toNumbersKey(collection, id, at),
      }))
      return { changes: [toPostChange(collection, id, undefined, before), ...deletions], result: undefined }
    })
  }

  report(collection: string, id: string, numbers: NumbersReport): Promise<PostResult> {
    return this.#change(collection, async (posts) => {
      const before = requirePost(posts, id)
      if (isInFuture(numbers.at, Date.now())) throw errors.NUMBERS_IN_FUTURE(new Date(numbers.at).toISOString())
      const history = await this.#openHistory(collection, id, before)
      const revision = createRevision(before)
      const state = history.add(numbers, revision)
      if (!state) throw errors.TOO_MANY_NUMBERS(`maximum of ${MAX_POST_POINTS} times`)
      return {
        changes: history.toChanges(revision),
        result: { post: history.toPost(revision), isNew: state === 'new' },
      }
    })
  }

  async deleteNumbers(collection: string, id: string, at: number): Promise<void> {
    await this.#change(collection, async (posts) => {
      const before = requirePost(posts, id)
      const history = await this.#openHistory(collection, id, before)
      if (!history.delete(at)) throw errors.NUMBERS_NOT_FOUND(new Date(at).toISOString())
      return { changes: history.toChanges(createRevision(before)), result: undefined }
    })
  }

  reportMany(
    collection: string,
    rows: readonly (ImportedNumbers | RefusedRow)[],
    { isDryRun }: { readonly isDryRun: boolean },
  ): Promise<ImportedRow[]> {
    return this.#change(collection, async (posts) => {
      const ids = findNamedPosts(posts, rows)
      const named = [...new Set(ids.flatMap((id) => id ?? []))]
      const histories = new Map<string, PostHistory>()
      for (const id of named) histories.set(id, await this.#openHistory(collection, id, posts.get(id)!))
      const revision = named.reduce((last, id) => Math.max(last, createRevision(posts.get(id))), 0)
      const result = addRows(rows, ids, histories, { now: Date.now(), revision })
      const changes = isDryRun ? [] : [...histories.values()].flatMap((history) => history.toChanges(revision))
      return { changes, result }
    })
  }

  importPosts(
    collection: string,
    imported: readonly ImportedPost[],
    { isDryRun }: { readonly isDryRun: boolean },
  ): Promise<number> {
    const compute = async (posts: PostMap): Promise<RecordEdit<number>> => {
      const now = Date.now()
      const merged = mergeImported(posts, imported)
      const size = new Set([...posts.keys(), ...merged.keys()]).size
      if (size > MAX_POSTS) throw errors.TOO_MANY_POSTS(`maximum of ${MAX_POSTS} posts`)
      const changes: RecordChange[] = []
      let changed = 0
      for (const [id, { content, reports }] of merged) {
        const late = reports.find(({ at }) => isInFuture(at, now))
        if (late) throw errors.NUMBERS_IN_FUTURE(new Date(late.at).toISOString())
        const before = posts.get(id)
        const history = before
          ? await this.#openHistory(collection, id, before)
          : new PostHistory(collection, id, { ...content, revision: 0, points: 0 }, [])
        const revision = createRevision(before)
        if (!history.addChanged(reports, revision)) throw errors.TOO_MANY_NUMBERS(`maximum of ${MAX_POST_POINTS} times`)
        const own = history.toChanges(revision, { ...before, ...content })
        if (own.length > 0) changed++
        changes.push(...own)
      }
      return { changes: isDryRun ? [] : changes, result: changed }
    }
    return this.#change(collection, compute, isDryRun)
  }

  /** @param isOptional true if the collection need not exist: then it has no posts */
  async #change<T>(
    collection: string,
    compute: (posts: PostMap) => MaybePromise<RecordEdit<T>>,
    isOptional = false,
  ): Promise<T> {
    const { collections, onChange } = this.#options
    const { state } = collections
    let hasChanges = false
    try {
      return await collections.changeRecords(async () => {
        const isFound = await state.get(collection)
        if (!isFound && !isOptional) throw errors.COLLECTION_NOT_FOUND(collection)
        const edit = await compute(isFound ? await this.#readPosts(collection) : new Map())
        hasChanges = edit.changes.length > 0
        return edit
      })
    } finally {
      // Also after an unknown outcome.
      if (hasChanges) await onChange(collection)
    }
  }

  async #readPosts(collection: string): Promise<PostMap> {
    const found = await this.#options.collections.state.listRecords('post', {
      prefix: toPostKey(collection),
      limit: 2 * MAX_POSTS,
    })
    return new Map(found.map(({ key, value }) => [parsePostKey(key).post, value]))
  }

  async #readNumbers(collection: string, id: string) {
    const range = { prefix: `${toPostKey(collection, id)}/`, limit: MAX_READ_POINTS }
    return (await this.#options.collections.state.listRecords('post-numbers', range)).map(({ value }) => value)
  }

  async #openHistory(collection: string, id: string, post: Post): Promise<PostHistory> {
    return new PostHistory(collection, id, post, await this.#readNumbers(collection, id))
  }
}

function requirePost(posts: PostMap, id: string): Post {
  const post = posts.get(id)
  if (!post) throw errors.POST_NOT_FOUND(id)
  return post
}

/** Returns a revision after that of the stored post. The random digits differ if two nodes change it in the same millisecond. */
const createRevision = (before: Post | undefined): number =>
  Math.max((before?.revision ?? 0) + 1, Date.now() * 1_000 + randomInt(1_000))
