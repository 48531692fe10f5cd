import { parseVideoId } from '@influencer-stats/stats/client'

/** A picture of a video or of a channel. */
export interface Picture {
  readonly type: string
  readonly bytes: Buffer
}

/** Origin of the pictures of YouTube's videos. */
const YOUTUBE_PICTURES = 'https://i.ytimg.com'

/** Origin that the picture of a channel has in the data of YouTube, and its path there. */
const CHANNEL_PICTURE = /^(?:yt\d\.ggpht\.com|(?:yt|lh)\d\.googleusercontent\.com)(?<path>\/[\w\-./=~]{1,400})$/

/** Maximum size of a picture (bytes). Those of YouTube have 5 to 20 KB. */
const MAX_PICTURE_BYTES = 204_800
const TIMEOUT_MS = 5_000
/** Formats that run no script, unlike SVG. */
const PICTURE_TYPE = /^image\/(jpeg|png|webp)$/

/**
 * Address of the picture of a video. Undefined if the text is no id of a video.
 * @param origin source of all pictures; undefined for YouTube's
 */
export const toVideoPicture = (video: string, origin = YOUTUBE_PICTURES): URL | undefined =>
  parseVideoId(video) === video ? new URL(`/vi/${video}/mqdefault.jpg`, origin) : undefined

/**
 * Address of the picture of a channel. Undefined for any other address than those that YouTube states.
 * @param address of the picture, without `https://`
 * @param origin source of all pictures; undefined for YouTube's
 */
export function toChannelPicture(address: string, origin?: string): URL | undefined {
  const path = CHANNEL_PICTURE.exec(address)?.groups!.path
  if (path === undefined) return undefined
  return origin === undefined ? new URL(`https://${address}`) : new URL(path, origin)
}

/**
 * Reads a picture. Redirects are not followed.
 * @returns undefined if the source has no such picture, or if its reply is no picture
 * @throws if the source does not respond in time
 */
export async function fetchPicture(address: URL): Promise<Picture | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const reply = await fetch(address, { redirect: 'manual', signal })
  const type = reply.headers.get('content-type')?.split(';', 1)[0]!.trim().toLowerCase() ?? ''
  if (reply.status >= 500) {
    await reply.body?.cancel()
    throw new Error(`the source of pictures responded with status ${reply.status}`)
  }
  const bytes = reply.status === 200 && PICTURE_TYPE.test(type) ? await readLimited(reply) : undefined
  if (!reply.bodyUsed) await reply.body?.cancel()
  return bytes && { type, bytes }
}

/** Returns the body; undefined if it is too large. */
async function readLimited(reply: Response): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of reply.body ?? []) {
    size += chunk.length
    if (size > MAX_PICTURE_BYTES) return undefined
    chunks.push(chunk)
  }
  return size > 0 ? Buffer.concat(chunks) : undefined
}
