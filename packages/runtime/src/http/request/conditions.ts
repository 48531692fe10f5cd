import type { RequestHeaders } from '../hot-route.ts'
import { formatReceived } from '../../received-value.ts'
import { commonErrors } from '../../errors/common-errors.ts'
import type { Access } from '../../net/request.ts'

/** Any version, or one of these entity tags. */
export type EntityTags = '*' | readonly string[]

/** The conditions of a request (RFC 9110, section 13). */
export interface Preconditions {
  /** `If-Match` */
  readonly match?: EntityTags
  /** `If-None-Match` */
  readonly noneMatch?: EntityTags
}

interface ConditionRules {
  readonly access?: Access
  readonly isConditional?: boolean
}

const TAG_PATTERN = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"[ \\t]*'
const TAG_LIST = new RegExp(`^[ \\t]*(?:,[ \\t]*)*${TAG_PATTERN}(?:,[ \\t]*(?:${TAG_PATTERN})?)*$`)
const TAG = /(?:W\/)?"[^"]*"/g

/** Parses the value of `If-Match` or `If-None-Match`; undefined if it is neither `*` nor a list of tags. */
export function parseTags(text: string): EntityTags | undefined {
  if (text.trim() === '*') return '*'
  return TAG_LIST.test(text) ? text.match(TAG)! : undefined
}

function readTags(text: string | string[], name: string): EntityTags {
  const tags = parseTags(String(text))
  if (!tags)
    throw commonErrors.CONDITION_INVALID(
      `${name} must be * or entity tags such as "a", "b"; received ${formatReceived(String(text))}`,
    )
  return tags
}

/** True if a request has conditions. Dates do not count: no resource has a modification date (RFC 9110, 13.1.4). */
export const isConditional = (headers: RequestHeaders): boolean =>
  headers['if-match'] !== undefined || headers['if-none-match'] !== undefined

/**
 * True if a route refuses requests with conditions, which a change must not ignore (RFC 9110, 13.1.1): the route does
 * not evaluate them, and it is not a GET or HEAD that only reads.
 */
export const shouldRefuseConditions = (method: string, { access, isConditional }: ConditionRules): boolean =>
  !isConditional && (access === 'change' || !(method === 'GET' || method === 'HEAD'))

/** Reads the conditions of a request; undefined if it has none. @throws Problem `CONDITION_INVALID` */
export function readPreconditions(headers: RequestHeaders): Preconditions | undefined {
  if (!isConditional(headers)) return undefined
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  return {
    ...(match !== undefined && { match: readTags(match, 'If-Match') }),
    ...(noneMatch !== undefined && { noneMatch: readTags(noneMatch, 'If-None-Match') }),
  }
}

const stripWeak = (tag: string) => (tag.startsWith('W/') ? tag.slice(2) : tag)

/** `If-None-Match` compares weakly. */
const matchesWeakly = (tags: EntityTags, etag: string): boolean =>
  tags === '*' || tags.some((tag) => stripWeak(tag) === etag)

/** True if the current version meets the condition. @param etag tag of that version; undefined without a version */
export function isPreconditionMet({ match, noneMatch }: Preconditions, etag: string | undefined): boolean {
  if (match !== undefined) {
    if (etag === undefined) return false
    // `If-Match` compares strongly: a weak tag matches nothing.
    if (match !== '*' && !match.includes(etag)) return false
  }
  return noneMatch === undefined || etag === undefined || !matchesWeakly(noneMatch, etag)
}
