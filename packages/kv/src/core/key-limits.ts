/** Maximum size of a key (bytes). */
export const MAX_KEY_BYTES = 1_024

/** Maximum of the settings that limit the size of values, batches, queues and watch memory (bytes). */
export const MAX_VALUE_BYTES = 256 * 1_024 * 1_024

/** Maximum time to expiry (s): 31 years. */
export const MAX_TTL_S = 999_999_999

/** Maximum expiry time (ms since 1970): the year 2243. */
export const MAX_TIME_MS = 8_640_000_000_000
