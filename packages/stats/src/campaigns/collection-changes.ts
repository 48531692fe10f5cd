import { isPreconditionMet, type Preconditions } from '@influencer-stats/runtime/conditions'
import { applyPatch, type Campaign, type CampaignPatch, getEtag, MAX_TAGS } from '../core/campaign.ts'
import { addFollowed, updateFollowed } from './followed-videos.ts'
import { MAX_VIDEOS, removeDuplicates } from '../core/ids.ts'
import { errors } from '../errors.ts'
import type { Collection, TrashedCollection } from '../state/stats-state.ts'

/** A collection without its id, its revision and its time of creation. */
export type CollectionFields = Omit<Collection, 'id' | 'revision' | 'created'>

/** Fields of a collection that a client sets. */
type ClientFields = Campaign & Pick<Collection, 'videos'>

/** A change of a collection: `null` removes a field of its campaign. */
export interface CollectionPatch extends CampaignPatch {
  readonly videos?: readonly string[] | undefined
}

/** The same change for any number of collections. */
export interface CollectionEdit {
  readonly addTags?: readonly string[] | undefined
  readonly removeTags?: readonly string[] | undefined
  readonly archived?: boolean | undefined
}

/**
 * All changes of collections. Each function computes the new fields of a collection. The result undefined deletes the
 * collection; the argument `before` as the result changes nothing. Every function throws the Problem `CONDITION_FAILED`
 * if the collection does not meet the condition.
 */
export const collectionChanges = {
  /** Creates or replaces a collection. */
  put(before, _id, videos: readonly string[], campaign: Campaign = {}, condition?: Preconditions) {
    requireCondition(before, condition)
    return toFields(before, { videos: removeDuplicates(videos), ...applyPatch({}, campaign) })
  },
  /** Changes the fields of `patch`. @throws Problem `COLLECTION_NOT_FOUND` */
  patch(before, id, { videos, ...campaign }: CollectionPatch, condition?: Preconditions) {
    const found = requireCollection(id, before, condition)
    return toFields(found, { videos: videos ? removeDuplicates(videos) : found.videos, ...applyPatch(found, campaign) })
  },
  /**
   * Adds and removes tags, and moves a collection to the archive or back. Changes nothing if there is nothing to do.
   * @throws Problem `COLLECTION_NOT_FOUND`, `TOO_MANY_TAGS`
   */
  edit(before, id, edit: CollectionEdit, condition?: Preconditions) {
    const found = requireCollection(id, before, condition)
    const { tags = [], archived = false } = found
    const { addTags = [], removeTags = [], archived: isArchived = archived } = edit
    const edited = removeDuplicates([...tags, ...addTags]).filter((tag) => !removeTags.includes(tag))
    if (edited.join('\n') === tags.join('\n') && isArchived === archived) return found
    if (edited.length > MAX_TAGS) throw errors.TOO_MANY_TAGS(`maximum of ${MAX_TAGS} tags`)
    return toFields(found, { videos: found.videos, ...applyPatch(found, { tags: edited, archived: isArchived }) })
  },
  /** Deletes a collection. The owner moves it to the trash, if there is one. @throws Problem `COLLECTION_NOT_FOUND` */
  delete(before, id, condition?: Preconditions) {
    requireCollection(id, before, condition)
    return undefined
  },
  /** Adds a video to a collection. @throws Problem `COLLECTION_NOT_FOUND`, `COLLECTION_FULL` */
  addVideo(before, id, video: string, condition?: Preconditions) {
    const found = requireCollection(id, before, condition)
    if (found.videos.includes(video)) return found
    if (found.videos.length >= MAX_VIDEOS) throw errors.COLLECTION_FULL(`maximum of ${MAX_VIDEOS} videos`)
    return toFields(found, { ...found, videos: [...found.videos, video] })
  },
  /** Removes a video from a collection. @throws Problem `COLLECTION_NOT_FOUND`, `VIDEO_NOT_IN_COLLECTION` */
  removeVideo(before, id, video: string, condition?: Preconditions) {
    const found = requireCollection(id, before)
    if (!found.videos.includes(video)) throw errors.VIDEO_NOT_IN_COLLECTION()
    requireCondition(found, condition)
    return toFields(found, { ...found, videos: found.videos.filter((other) => other !== video) })
  },
  /** Creates or replaces a collection with its followed and refused videos. */
  import(before, _id, { videos, followed, refused, ...campaign }: CollectionFields, condition?: Preconditions) {
    requireCondition(before, condition)
    const fields = { videos: removeDuplicates(videos), ...applyPatch({}, campaign) }
    return { ...fields, ...updateFollowed({ ...(followed && { followed }), ...(refused && { refused }) }, fields) }
  },
  /**
   * Adds uploads that the sources of a collection found: see `addFollowed`.
   * @param uploads id of the source of each upload, by the id of the upload
   * @throws Problem `COLLECTION_NOT_FOUND`
   */
  follow(before, id, uploads: Readonly<Record<string, string>>) {
    return addFollowed(requireCollection(id, before), uploads)
  },
} satisfies Record<string, (before: Collection | undefined, id: string, ...args: any[]) => CollectionFields | undefined>

/**
 * Changes of deleted collections. Each function computes the fields of the restored collection; with the result undefined
 * the collection is deleted for good. Every function throws the Problems `NOT_IN_TRASH` and `CONDITION_FAILED`.
 */
export const trashChanges = {
  restore(trashed, id, condition?: Preconditions) {
    const { deleted: _deleted, ...fields } = requireTrashed(id, trashed, condition)
    return fields as CollectionFields
  },
  purge(trashed, id, condition?: Preconditions) {
    requireTrashed(id, trashed, condition)
    return undefined
  },
} satisfies Record<
  string,
  (trashed: TrashedCollection | undefined, id: string, ...args: any[]) => CollectionFields | undefined
>

type Changes = typeof collectionChanges & typeof trashChanges
export type ChangeName = keyof Changes
export type ChangeArgs<Name extends ChangeName> = Changes[Name] extends (
  before: any,
  id: string,
  ...args: infer Args
) => unknown
  ? Args
  : never

/** Result of a change. */
export interface ChangeResult<Name extends ChangeName = ChangeName> {
  /** The collection after the change. */
  readonly collection: ReturnType<Changes[Name]> extends undefined ? undefined : Collection
  /** True if the collection did not exist before. */
  readonly isNew: boolean
  /** False if the change had nothing to do: the collection already contained the video. */
  readonly isChanged: boolean
}

/** Returns the fields after a person's change, with the followed and refused videos. */
function toFields(before: Collection | undefined, fields: ClientFields): CollectionFields {
  const { followed: _followed, refused: _refused, ...rest }: CollectionFields = fields
  return { ...rest, ...updateFollowed(before ?? {}, fields) }
}

function requireTrashed(id: string, trashed: TrashedCollection | undefined, condition?: Preconditions) {
  if (!trashed) throw errors.NOT_IN_TRASH(id)
  requireCondition(trashed, condition)
  return trashed
}

function requireCollection(id: string, collection: Collection | undefined, condition?: Preconditions): Collection {
  if (!collection) throw errors.COLLECTION_NOT_FOUND(id)
  requireCondition(collection, condition)
  return collection
}

/**
 * Checks the condition of a request.
 * @param collection the collection, if it exists
 * @throws Problem `CONDITION_FAILED` with the current ETag if the collection does not meet the condition
 */
export function requireCondition(
  collection: { readonly revision: number } | undefined,
  condition: Preconditions | undefined,
): void {
  const etag = collection && getEtag(collection)
  if (!condition || isPreconditionMet(condition, etag)) return
  throw errors.CONDITION_FAILED(undefined, etag === undefined ? {} : { headers: { etag } })
}
