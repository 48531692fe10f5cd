const DAY = 86_400_000
const HOURS = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  hourCycle: 'h23',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
})

/** When the quota is renewed: at the next midnight in California (ms since 1970). Two days a year are off by an hour. */
export function nextRenewal(now: number): number {
  const parts = Object.fromEntries(HOURS.formatToParts(now).map(({ type, value }) => [type, Number(value)]))
  const passed = ((parts.hour! * 60 + parts.minute!) * 60 + parts.second!) * 1_000
  return Math.floor(now / 1_000) * 1_000 - passed + DAY
}
