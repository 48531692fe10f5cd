export const PLATFORMS = ['youtube', 'instagram', 'tiktok', 'twitch', 'x', 'facebook', 'linkedin'] as const
export type Platform = (typeof PLATFORMS)[number]

export interface VideoLink {
  readonly type: 'video'
  readonly platform: 'youtube'
  readonly id: string
  readonly url: string
  /** True for a link of the form /shorts/. */
  readonly isShort?: true
}

/** A channel: by its id, or by a name that a request to YouTube must resolve. */
export interface ChannelLink {
  readonly type: 'channel'
  readonly platform: 'youtube'
  readonly url: string
  /** `UC` and 22 characters. */
  readonly id?: string
  /** Without `@`. Present if `id` is absent. */
  readonly name?: string
  /** The API resolves handles and users. A custom name is often the handle, too. */
  readonly nameKind?: 'handle' | 'user' | 'custom'
}

export interface PlaylistLink {
  readonly type: 'playlist'
  readonly platform: 'youtube'
  readonly id: string
  readonly url: string
}

/** A post of another platform, with a normalised URL. */
export interface PostLink {
  readonly type: 'post'
  readonly platform: Exclude<Platform, 'youtube'>
  /** Id of the platform; for a short link, its code. */
  readonly id: string
  readonly url: string
  /** True for a link whose target only the platform knows. Two of them, or one and a full link, may name the same post. */
  readonly isShortLink?: true
  /** Name of the author, with `@`, if the link contains it. */
  readonly author?: string
}

export type ContentLink = VideoLink | ChannelLink | PlaylistLink | PostLink

/** Why a pasted text is refused. The texts for people are those of the page. */
export type PasteRefusal =
  /** A link to a site that is not supported. */
  | 'UNSUPPORTED_HOST'
  /** A link of a supported site to something other than a video, channel, playlist or post. */
  | 'UNSUPPORTED_LINK'
  /** The id of the video, channel, playlist or post is incomplete or has another form. */
  | 'MALFORMED_ID'
  /** A link of a link shortener. Only a request to its site finds the target. */
  | 'SHORTENED_LINK'
  /** A link to an account of a platform other than YouTube. */
  | 'PROFILE_LINK'
  /** A playlist that only its viewer sees, or that YouTube generates, such as a mix. */
  | 'PERSONAL_PLAYLIST'
  /** Longer than 8,192 characters. */
  | 'TOO_LONG'
  /** A row of a sheet, or a single word in its line, without a link or an id. */
  | 'NO_LINK'
