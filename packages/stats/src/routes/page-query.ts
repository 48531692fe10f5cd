import { formatReceived } from '@influencer-stats/runtime/received-value'
import { describePattern } from '@influencer-stats/runtime/validation-errors'
import { parseCursor, type RowPosition } from '../campaigns/overview/overview-selection.ts'
import { errors } from '../errors.ts'

export const DEFAULT_LIMIT = 50
export const MAX_LIMIT = 200
export const MAX_QUERY_LENGTH = 200

/** A cursor may contain a name, with up to four bytes per character, and base64 adds a third. */
const CURSOR_PATTERN = describePattern(
  '^[A-Za-z0-9._~-]{1,2048}$',
  '"next" of the page before: 1 to 2048 letters, digits and . _ ~ -',
)

/** Parameters of a page of a list. */
export const pageQuery = {
  limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  after: { type: 'string', pattern: CURSOR_PATTERN, description: 'Cursor: `next` of the previous page.' },
} as const

/** Returns the position of a cursor. @throws Problem `INVALID_CURSOR` */
export function requirePosition(sort: string, cursor: string): RowPosition {
  const position = parseCursor(sort, cursor)
  if (!position)
    throw errors.INVALID_CURSOR(
      `querystring/after must be "next" of the page before with sort=${sort}; received ${formatReceived(cursor)}`,
    )
  return position
}
