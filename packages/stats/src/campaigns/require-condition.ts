import { isPreconditionMet, type Preconditions } from '@influencer-stats/runtime/conditions'
import { getEtag } from '../core/collection-version.ts'
import { errors } from '../errors.ts'

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
