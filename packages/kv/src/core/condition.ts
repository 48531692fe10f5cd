/** Any value, or one of these tags. */
export type Tags = '*' | readonly string[]

/** What must be true of the value that is there for a write to happen. */
export interface Condition {
  /** `If-Match` */
  readonly match?: Tags
  /** `If-None-Match` */
  readonly noneMatch?: Tags
  /** It is to have expired at this time (ms since 1970): what takes away what has. Then there is nothing else. */
  readonly due?: number
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

/** Whether what is there now meets the condition. @param etag its tag; nothing: there is none */
export function holds({ match, noneMatch }: Condition, etag: string | undefined): boolean {
  if (match !== undefined) {
    if (etag === undefined) return false
    // Compared strongly: a weak tag matches nothing.
    if (match !== '*' && !match.includes(etag)) return false
  }
  return noneMatch === undefined || etag === undefined || !matchesWeakly(noneMatch, etag)
}

/** Whether tags name this one, weak or not: what `If-None-Match` asks. */
function matchesWeakly(tags: Tags, etag: string): boolean {
  return tags === '*' || tags.some((tag) => stripWeak(tag) === etag)
}
