/** What the service knows of a playlist that campaigns follow. */
export interface Feed {
  /** ETag of its first page; absent if the page must be read whole. */
  readonly etag?: string
  /** Time of the last request (ms since 1970). */
  readonly asOf: number
  /** Time of the next request as planned at `asOf` (ms since 1970). Feeds of older versions have none. */
  readonly nextAt?: number
  /** Time of the last request that read the playlist whole, or up to known videos (ms since 1970). */
  readonly readAt?: number
  /** Hash of the rules for which it was read: see `hashRules`. */
  readonly rules: string
  /** Ids of the videos of its first page. */
  readonly newest: readonly string[]
  /** Reason of YouTube why it cannot be read: it does not exist, or is private. */
  readonly reason?: string
}
