const DAY_MS = 86_400_000
const PACIFIC_TIME_FORMAT = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  hourCycle: 'h23',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
})

/**
 * Time of the next quota renewal: midnight in California (ms since 1970). On the two days of a clock change it is wrong by
 * an hour.
 */
export function getNextRenewal(now: number): number {
  const parts = Object.fromEntries(
    PACIFIC_TIME_FORMAT.formatToParts(now).map(({ type, value }) => [type, Number(value)]),
  )
  const passed = ((parts.hour! * 60 + parts.minute!) * 60 + parts.second!) * 1_000
  return Math.floor(now / 1_000) * 1_000 - passed + DAY_MS
}
