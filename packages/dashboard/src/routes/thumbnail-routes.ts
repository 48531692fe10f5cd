import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildOpenReplies } from '@influencer-stats/runtime/problem-schemas'
import type { FastifyReply } from 'fastify'
import type { Auth } from '../auth.ts'
import { errors } from '../errors.ts'
import type { ShareLinks } from '../share-links.ts'
import type { Thumbnails } from '../thumbnails/thumbnails.ts'
import type { CampaignReader } from '../upstream/campaign-reader.ts'

interface ThumbnailOptions {
  readonly auth: Auth
  readonly links: ShareLinks
  readonly campaigns: CampaignReader
  /** Pictures of videos, by id. */
  readonly videos: Pictures
  /** Pictures of channels, by their address without `https://`. */
  readonly channels: Pictures
}

type Pictures = Pick<Thumbnails, 'get'>

/** A picture rarely changes. Only this browser may store it, because the campaigns are not public. */
const PICTURE_HEADERS = {
  'cache-control': 'private, max-age=86400',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  // The bytes come from another service: opened as a page they run nothing.
  'content-security-policy': "default-src 'none'; sandbox",
}

/**
 * Registers the pictures of videos and channels: for users, and for clients those of the videos of their campaign. A page
 * shows a placeholder for a picture that does not exist.
 */
export function registerThumbnailRoutes(
  app: App,
  { auth, links, campaigns, videos, channels }: ThumbnailOptions,
): void {
  const toOptions = (...faults: Parameters<typeof buildOpenReplies>) => ({
    config: { access: 'host' as const },
    schema: { hide: true, response: buildOpenReplies(commonErrors.NOT_FOUND, ...faults) },
  })

  async function send(pictures: Pictures, key: string, reply: FastifyReply): Promise<never> {
    const picture = await pictures.get(key)
    if (!picture) throw commonErrors.NOT_FOUND()
    return reply
      .headers(PICTURE_HEADERS)
      .type(picture.type)
      .send(picture.bytes as never) as never
  }

  app.get('/thumbnails/:video', toOptions(errors.SIGN_IN_NEEDED), async (request, reply) => {
    const fault = auth.check(request as never, 'read')
    if (fault) throw fault
    return send(videos, (request.params as { video: string }).video, reply as never)
  })

  app.get('/thumbnails/channels/*', toOptions(errors.SIGN_IN_NEEDED), async (request, reply) => {
    const fault = auth.check(request as never, 'read')
    if (fault) throw fault
    return send(channels, (request.params as { '*': string })['*'], reply as never)
  })

  app.get(
    '/shared/:token/thumbnails/:video',
    toOptions(errors.LINK_UNKNOWN, errors.LINK_EXPIRED, errors.SERVICE_UNREACHABLE, errors.SERVICE_SLOW),
    async (request, reply) => {
      const { token, video } = request.params as { token: string; video: string }
      const { videos: shared = [] } = await campaigns.readShared(links.read(token))
      if (!shared.includes(video)) throw commonErrors.NOT_FOUND()
      return send(videos, video, reply as never)
    },
  )
}
