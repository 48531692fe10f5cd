import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildOpenReplies } from '@influencer-stats/runtime/problem-schemas'
import { buildPicture } from '../pictures/picture.ts'

const VIDEO_ID = /^[\w-]{11}$/
const PICTURE_NAME = /^(default|mqdefault|hqdefault)\.jpg$/

/** Registers the pictures of videos, at the paths of i.ytimg.com. In place of a JPEG the reply is a PNG. */
export function addPictureRoute(app: App): void {
  app.get(
    '/vi/:video/:name',
    { config: { access: 'host' }, schema: { hide: true, response: buildOpenReplies(commonErrors.NOT_FOUND) } },
    async (request, reply) => {
      const { video, name } = request.params as { video: string; name: string }
      if (!VIDEO_ID.test(video) || !PICTURE_NAME.test(name)) throw commonErrors.NOT_FOUND()
      return reply.type('image/png').send(buildPicture(video) as never) as never
    },
  )
}
