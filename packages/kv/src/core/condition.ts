import { hash } from 'node:crypto'

/** The tag of a value (a string: of its UTF-8): `"` and the first 22 characters (132 bits) of its SHA-256 `"`. 0.4 us for 150 bytes. */
export function etagOf(value: Buffer | string): string {
  return `"${hash('sha256', value, 'base64url').slice(0, 22)}"`
}

/** Any value, or one of these tags. */
export type Tags = '*' | readonly string[]

/** What must be true of the value that is there for a write to happen. */
export interface Condition {
  /** `If-Match` */
  readonly match?: Tags
  /** `If-None-Match` */
  readonly noneMatch?: Tags
}

const ONE = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"[ \\t]*'
const TAG_LIST = new RegExp(`^[ \\t]*(?:,[ \\t]*)*${ONE}(?:,[ \\t]*(?:${ONE})?)*$`)
const TAG = /(?:W\/)?"[^"]*"/g

/** Parses the value of `If-Match` or `If-None-Match`; nothing where it is neither `*` nor a list of tags. */
export function parseTags(text: string): Tags | undefined {
  if (text.trim() === '*') return '*'
  return TAG_LIST.test(text) ? text.match(TAG)! : undefined
}

const stripWeak = (tag: string) => (tag.startsWith('W/') ? tag.slice(2) : tag)

/** Whether the value that is there now (nothing: there is none) meets the condition. */
export function holds({ match, noneMatch }: Condition, value: Buffer | string | undefined): boolean {
  if (match !== undefined) {
    if (value === undefined) return false
    // Compared strongly: a weak tag matches nothing.
    if (match !== '*' && !match.includes(etagOf(value))) return false
  }
  return noneMatch === undefined || value === undefined || !matchesWeakly(noneMatch, etagOf(value))
}

/** Whether tags name this one, weak or not: what `If-None-Match` asks. */
export function matchesWeakly(tags: Tags, etag: string): boolean {
  return tags === '*' || tags.some((tag) => stripWeak(tag) === etag)
}
