import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildOpenReplies } from '@influencer-stats/runtime/problem-schemas'
import { buildPicture } from '../pictures/picture.ts'
import { isVideoIdValid } from '../world/video-counts.ts'

const PICTURE_NAME = /^(default|mqdefault|hqdefault)\.jpg$/
/** The picture of a channel, and its size. */
const CHANNEL_NAME = /^stand-in-\d{1,9}=s(?:88|240|800)-/
const CHANNEL_SIZE = 88

/**
 * Registers the pictures of videos at the paths of i.ytimg.com, and those of channels at the paths of yt3.ggpht.com. In place
 * of a JPEG the reply is a PNG.
 */
export function addPictureRoutes(app: App): void {
  const options = {
    config: { access: 'host' as const },
    schema: { hide: true, response: buildOpenReplies(commonErrors.NOT_FOUND) },
  }
  app.get('/vi/:video/:name', options, async (request, reply) => {
    const { video, name } = request.params as { video: string; name: string }
    if (!isVideoIdValid(video) || !PICTURE_NAME.test(name)) throw commonErrors.NOT_FOUND()
    return reply.type('image/png').send(buildPicture(video, 160, 90) as never) as never
  })

  app.get('/ytc/:name', options, async (request, reply) => {
    const { name } = request.params as { name: string }
    if (!CHANNEL_NAME.test(name)) throw commonErrors.NOT_FOUND()
    const [channel] = name.split('=') as [string]
    return reply.type('image/png').send(buildPicture(channel, CHANNEL_SIZE, CHANNEL_SIZE) as never) as never
  })
}
