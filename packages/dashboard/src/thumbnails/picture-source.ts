/** A picture of a video. */
export interface Picture {
  readonly type: string
  readonly bytes: Buffer
}

/** Origin of the pictures of YouTube's videos. */
export const YOUTUBE_PICTURES = 'https://i.ytimg.com'

/** Maximum size of a picture (bytes). Those of YouTube have 5 to 20 KB. */
const MAX_PICTURE_BYTES = 204_800
const TIMEOUT_MS = 5_000
/** Formats that run no script, unlike SVG. */
const PICTURE_TYPE = /^image\/(jpeg|png|webp)$/

/**
 * Reads the picture of a video from a source. The source is fixed, redirects are not followed, and the id is the only
 * input of a client.
 * @param origin origin of the source, such as https://i.ytimg.com
 * @returns undefined if the source has no picture of this video, or if its reply is no picture
 * @throws if the source does not respond in time
 */
export async function fetchPicture(origin: string, video: string): Promise<Picture | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const reply = await fetch(new URL(`/vi/${video}/mqdefault.jpg`, origin), { redirect: 'manual', signal })
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
