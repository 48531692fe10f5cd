import { createApp, type App } from '@influencer-stats/runtime/http'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { AppContext } from '@influencer-stats/runtime/service'
import { createGoogleError } from './core/google-errors.ts'
import { renderError } from './core/render-videos.ts'
import { createThreadState } from './thread-state.ts'
import type { YoutubeSharedState, YoutubeMainMessage, YoutubeThreadMessage } from './messages.ts'
import { createMeter } from './meter.ts'
import { addControlRoutes } from './routes/control.ts'
import { addVideosRoute } from './routes/videos.ts'
import type { YoutubeConfig } from './settings.ts'

/** Every problem below this path has Google's format, including those of the runtime. */
const GOOGLE_PATH = '/youtube/v3/'

const formatGoogleProblem = (problem: Problem, url: string) =>
  url.startsWith(GOOGLE_PATH)
    ? {
        contentType: 'application/json; charset=UTF-8',
        body: renderError(createGoogleError(problem.status, problem.message)),
      }
    : undefined

/** Builds the stand-in's app, once per serving thread. */
export async function createYoutubeApp(
  context: AppContext<YoutubeConfig, YoutubeMainMessage, YoutubeThreadMessage>,
): Promise<App> {
  const { bus, config, lifecycle } = context
  const shared = context.shared as YoutubeSharedState
  const thread = createThreadState(shared.state, createMeter(shared.meter))
  bus.on('changed', (state) => {
    thread.state = state
  })
  const app = await createApp(context, {
    title: 'YouTube stand-in',
    description: 'Imitates `videos.list` of the YouTube Data API v3, with invented numbers and configurable faults.',
    problemFormat: formatGoogleProblem,
    // The one route with a query string reads it from the raw URL.
    querystringParser: () => ({}),
  })
  addVideosRoute(app, { config, lifecycle, thread })
  addControlRoutes(app, { bus, thread })
  return app
}
