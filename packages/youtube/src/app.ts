import { createApp, type App } from '@influencer-stats/runtime/http'
import type { AppContext } from '@influencer-stats/runtime/service'
import { createThreadState } from './thread-state.ts'
import type { YoutubeSharedState, YoutubeMainMessage, YoutubeThreadMessage } from './messages.ts'
import { resources } from './resources/resources.ts'
import { Meter } from './meter.ts'
import { addControlRoutes } from './routes/control.ts'
import { addPictureRoutes } from './routes/picture-route.ts'
import { createListRoute, formatGoogleProblem } from './routes/list-route.ts'
import type { YoutubeConfig } from './settings.ts'

/** Every problem below this path has Google's format, including those of the runtime. */
const GOOGLE_PATH = '/youtube/v3/'

/** Builds the stand-in's app, once per serving thread. */
export async function createYoutubeApp(
  context: AppContext<YoutubeConfig, YoutubeMainMessage, YoutubeThreadMessage>,
): Promise<App> {
  const { bus, config, lifecycle } = context
  const shared = context.shared as YoutubeSharedState
  const thread = createThreadState(shared.state, new Meter(shared.meter))
  bus.on('changed', (state) => {
    thread.state = state
  })
  const app = await createApp(context, {
    title: 'YouTube stand-in',
    description: 'Imitates the YouTube Data API v3, with invented numbers and configurable faults.',
    problemFormat: (problem, url) => (url.startsWith(GOOGLE_PATH) ? formatGoogleProblem(problem) : undefined),
    hotRoutes: resources.map((resource) => createListRoute(resource, { config, lifecycle, thread })),
    // The routes with a query string read it from the raw URL.
    querystringParser: () => ({}),
  })
  addControlRoutes(app, { bus, thread })
  addPictureRoutes(app)
  return app
}
