import { commonErrors } from '@influencer-stats/runtime/errors'
import type { FastifyRequest } from 'fastify'
import { parseVideoId } from '../core/video-links.ts'

const MAX_SHOWN_LENGTH = 100

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
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text
  throw commonErrors.VALIDATION_FAILED(`${where} is neither a link to a YouTube video nor the id of one: ${shown}`)
}
