/** YouTube's video ids: 11 characters of base64url. */
export const VIDEO_ID_PATTERN = '^[A-Za-z0-9_-]{11}$'

/** Ids of collections: chosen by the client, a UUID for instance. */
export const COLLECTION_ID_PATTERN = '^[A-Za-z0-9._~-]{1,128}$'

/** Most videos that a collection may have. */
export const MAX_VIDEOS = 1_000

/** The list without what it says twice, in its order. */
export const removeDuplicates = (ids: readonly string[]): string[] => [...new Set(ids)]
