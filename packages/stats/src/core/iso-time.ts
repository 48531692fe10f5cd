/** Returns milliseconds since 1970 as an ISO time. */
export const toIsoTime = (ms: number): string => new Date(ms).toISOString()

/** Returns microseconds since 1970 as an ISO time with six decimals, which distinguish times of the same millisecond. */
export const toIsoMicroseconds = (time: number): string =>
  toIsoTime(Math.floor(time / 1000)).replace('Z', `${String(time % 1000).padStart(3, '0')}Z`)
