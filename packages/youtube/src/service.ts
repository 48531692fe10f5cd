import { defineService } from '@influencer-stats/runtime/service'
import { createController } from './controller.ts'
import type { YoutubeSharedState, YoutubeMainMessage, YoutubeThreadMessage } from './messages.ts'
import { createMeter, createMeterMemory } from './meter.ts'
import { registerMetrics } from './metrics.ts'
import { settings } from './settings.ts'

/** A stand-in for `videos.list` of the YouTube Data API v3, with faults on request. */
export const youtube = defineService<typeof settings, YoutubeMainMessage, YoutubeThreadMessage>({
  name: 'youtube',
  summary: 'imitates the YouTube Data API v3 with invented numbers',
  port: 8081,
  settings,
  standsIn: '--youtube-uri https://www.googleapis.com --youtube-api-key KEY',
  example: (url) => `curl '${url}/youtube/v3/videos?part=statistics&id=-4lB5EKS5Uk&key=stand-in'`,
  async open({ config, registry, broadcast }) {
    const memory = createMeterMemory()
    const meter = createMeter(memory)
    const controller = createController({
      meter,
      quota: config.quota,
      broadcast: (state) => broadcast('changed', state),
    })
    registerMetrics(registry, meter)
    return {
      shared: (): YoutubeSharedState => ({ meter: memory, state: controller.state }),
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
