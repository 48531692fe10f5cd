/** YouTube's video ids: 11 characters of base64url. */
export const VIDEO_ID_PATTERN = '^[A-Za-z0-9_-]{11}$'

const VIDEO_ID = new RegExp(VIDEO_ID_PATTERN)
export const isVideoId = (text: string): boolean => VIDEO_ID.test(text)

/** Ids of collections. The client chooses them, for instance a UUID. */
export const COLLECTION_ID_PATTERN = '^[A-Za-z0-9._~-]{1,128}$'

/** Maximum number of videos in a collection. */
export const MAX_VIDEOS = 1_000

/** Returns the list without duplicates, in its order. */
export const removeDuplicates = (ids: readonly string[]): string[] => [...new Set(ids)]
