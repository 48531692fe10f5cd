const format = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Los_Angeles', dateStyle: 'short' })

/** The date in Pacific Time, by which Google counts quota. */
export const pacificDay = (time: number): string => format.format(time)
