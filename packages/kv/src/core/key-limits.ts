/** Largest key (bytes). */
export const MAX_KEY_BYTES = 1_024

/** Largest value that a setting can allow (bytes). */
export const MAX_VALUE_BYTES = 256 * 1_024 * 1_024

/** Maximum time to expiry (s): 31 years. */
export const MAX_TTL_S = 999_999_999

/** Latest time at which a value expires (ms since 1970). */
export const MAX_TIME_MS = 8_640_000_000_000
