import type { RequestHeaders } from '@influencer-stats/runtime/hot-route'
import { parseTags, type Condition, type Tags } from '../core/condition.ts'
import { errors } from '../errors.ts'

/** The condition that a request's headers make; nothing for most. @throws CONDITION_INVALID */
export function readCondition(headers: RequestHeaders): Condition | undefined {
  const match = headers['if-match']
  const noneMatch = headers['if-none-match']
  if (match === undefined && noneMatch === undefined) return undefined
  return {
    ...(match !== undefined && { match: readTags(match) }),
    ...(noneMatch !== undefined && { noneMatch: readTags(noneMatch) }),
  }
}

function readTags(text: string | string[]): Tags {
  const tags = parseTags(String(text))
  if (!tags) throw errors.CONDITION_INVALID()
  return tags
}
