import { formatReceived } from '@influencer-stats/runtime/received-value'
import { normalizeId } from '../core/price-id.ts'
import { errors } from '../errors.ts'

/**
 * Checks the id in a body against that of the path.
 * @param id the id of the path, as `normalizeId` returns it
 * @throws Problem `ID_MISMATCH`
 */
export function checkBodyId(bodyId: string | undefined, id: string): void {
  if (bodyId !== undefined && normalizeId(bodyId) !== id)
    throw errors.ID_MISMATCH(`body/id must be absent or ${id}, as in the path; received ${formatReceived(bodyId)}`)
}
