/** Largest key (bytes). */
export const MAX_KEY = 1_024

/** Largest value that a setting can allow (bytes). */
export const MAX_VALUE = 256 * 1_024 * 1_024
