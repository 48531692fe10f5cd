import { registerCounter } from '@influencer-stats/runtime/counter'
import { defineService } from '@influencer-stats/runtime/service'
import { createController } from './controller.ts'
import type { YoutubeSharedState, YoutubeMainMessage, YoutubeThreadMessage } from './messages.ts'
import { Meter } from './meter.ts'
import { settings } from './settings.ts'

/** A stand-in for the YouTube Data API v3, with faults on request. */
export const youtube = defineService<typeof settings, YoutubeMainMessage, YoutubeThreadMessage>({
  name: 'youtube',
  summary: 'imitates the YouTube Data API v3 with invented numbers',
  port: 8081,
  settings,
  standsIn: '--youtube-uri https://www.googleapis.com --youtube-api-key KEY',
  example: (url) => `curl '${url}/youtube/v3/videos?part=statistics&id=-4lB5EKS5Uk&key=stand-in'`,
  async open({ config, registry, broadcast }) {
    const meter = new Meter()
    const controller = createController({
      meter,
      quota: config.quota,
      broadcast: (state) => broadcast('changed', state),
    })
    registerCounter(
      registry,
      'youtube_calls_total',
      'Calls of the API, including failed ones.',
      () => meter.counts.calls,
    )
    registerCounter(registry, 'youtube_ids_total', 'Requested video ids.', () => meter.counts.ids)
    return {
      shared: (): YoutubeSharedState => ({ meter: meter.memory, state: controller.getState() }),
      handlers: controller.handlers,
      async close() {
        controller.close()
      },
    }
  },
  // Loaded only on threads that serve requests. Elsewhere Fastify would slow down `--help` and take memory.
  load: () => import('./app.ts'),
  app: async (context) => (await import('./app.ts')).createYoutubeApp(context),
})
