/** Largest key (bytes). */
export const MAX_KEY = 1_024

/** Largest value that a setting can allow (bytes). */
export const MAX_VALUE = 256 * 1_024 * 1_024

/** Longest time for which a value is kept where it expires (s): 31 years. */
export const MAX_TTL = 999_999_999

/** Latest time at which a value expires (ms since 1970). */
export const MAX_TIME = 8_640_000_000_000
