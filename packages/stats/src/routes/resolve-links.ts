import { commonErrors } from '@influencer-stats/runtime/errors'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import type { FastifyRequest } from 'fastify'
import { parseVideoId } from '../core/video-links.ts'

/**
 * Replaces every link to a video by its id, before the schema is checked.
 * @throws Problem `VALIDATION_FAILED`, which names the first text that is neither a link nor an id
 */
export async function resolveLinks({ params, body }: FastifyRequest): Promise<void> {
  const named = params as { video?: string }
  if (named.video !== undefined) named.video = toId(named.video, 'params/video')
  const videos = (body as { videos?: unknown } | null | undefined)?.videos
  if (!Array.isArray(videos)) return
  for (const [i, video] of videos.entries()) {
    if (typeof video === 'string') videos[i] = toId(video, `body/videos/${i}`)
  }
}

function toId(text: string, where: string): string {
  const id = parseVideoId(text)
  if (id !== undefined) return id
  throw commonErrors.VALIDATION_FAILED(
    `${where} must be the id of a YouTube video such as -4lB5EKS5Uk, or a link to one; received ${formatReceived(text)}`,
  )
}
