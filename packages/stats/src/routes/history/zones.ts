import { describePattern } from '@influencer-stats/runtime/validation-errors'
import { createZonedDays, type ZonedDays } from '../../core/history/zoned-days.ts'
import { errors } from '../../errors.ts'

export const DEFAULT_ZONE = 'UTC'

/** Name of a time zone in a query. Offsets such as +02:00 are refused: they have no rules for daylight saving time. */
export const zone = {
  type: 'string',
  pattern: describePattern('^[A-Za-z][A-Za-z0-9_+/-]{0,63}$', 'the name of a time zone such as Europe/Berlin'),
  default: DEFAULT_ZONE,
} as const

/** Returns the calendar of a time zone. @throws Problem `ZONE_UNKNOWN` */
export function openZone(name: string): ZonedDays {
  try {
    return createZonedDays(name)
  } catch (fault) {
    if (fault instanceof RangeError) throw errors.ZONE_UNKNOWN(name)
    throw fault
  }
}
