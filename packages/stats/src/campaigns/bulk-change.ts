import { Problem } from '@influencer-stats/runtime/problems'
import { storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { errors } from '../errors.ts'
import type { CollectionEdit } from './collection-changes.ts'
import type { Collections } from './collections.ts'

/** A change of many collections: an edit, the deletion, or the restoration from the trash. */
export type CommonChange = CollectionEdit & { readonly deleted?: true; readonly restored?: true }

/** Result for one collection. */
export interface ChangeOutcome {
  readonly id: string
  /** False if there was nothing to do, or the change was refused. */
  readonly changed: boolean
  /** Revision after the change. Absent after a deletion and a refusal. */
  readonly revision?: number
  /** Reason of a refusal. */
  readonly problem?: Problem
}

/** Number of changes that are made at once: one sync of the database, or one message of the log, takes several. */
const CONCURRENT_CHANGES = 100

/** Codes of refusals that the next change would meet, too. */
const OUTAGE_CODES: ReadonlySet<string> = new Set(
  [...storeErrors, errors.STATE_UNAVAILABLE, errors.LOG_UNAVAILABLE].map(({ code }) => code),
)

/**
 * Makes the same change of many collections, each one atomic and independent of the others.
 * @param versions required ETag of a collection, by its id
 * @returns a result for each id, in their order
 * @throws Problem the reason if nothing was changed because the store is unavailable
 */
export async function changeCollections(
  collections: Pick<Collections, 'change'>,
  ids: readonly string[],
  change: CommonChange,
  versions: ReadonlyMap<string, string>,
): Promise<ChangeOutcome[]> {
  const results: ChangeOutcome[] = []
  let outage: Problem | undefined
  for (let i = 0; i < ids.length; i += CONCURRENT_CHANGES) {
    const some = ids.slice(i, i + CONCURRENT_CHANGES)
    results.push(
      ...(await Promise.all(
        some.map((id) => (outage ? toRefusal(id, outage) : changeOne(collections, id, change, versions.get(id)))),
      )),
    )
    outage ??= results.find(({ problem }) => problem && OUTAGE_CODES.has(problem.code))?.problem
  }
  if (outage && !results.some(({ changed }) => changed)) throw outage
  return results
}

async function changeOne(
  collections: Pick<Collections, 'change'>,
  id: string,
  { deleted, restored, ...edit }: CommonChange,
  version: string | undefined,
): Promise<ChangeOutcome> {
  const condition = version === undefined ? undefined : { match: [version] }
  try {
    if (deleted) {
      await collections.change('delete', id, condition)
      return { id, changed: true }
    }
    const { collection, isChanged } = restored
      ? await collections.change('restore', id, condition)
      : await collections.change('edit', id, edit, condition)
    return { id, changed: isChanged, revision: collection.revision }
  } catch (fault) {
    if (fault instanceof Problem) return toRefusal(id, fault)
    throw fault
  }
}

const toRefusal = (id: string, problem: Problem): ChangeOutcome => ({ id, changed: false, problem })
