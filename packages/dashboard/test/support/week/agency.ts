import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createMovingClock } from '@influencer-stats/runtime/testing/faketime'
import { spawnService } from '@influencer-stats/runtime/testing/service-process'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { createStatsClient } from '@influencer-stats/stats/client'
import { createControl } from '@influencer-stats/youtube/client'
import type { Page } from 'playwright-core'
import { openPage } from '../browser.ts'
import { startProcesses } from '../processes.ts'

const CLI = fileURLToPath(new URL('../../../../stats/src/cli.ts', import.meta.url))
export const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const REFRESH_MS = 250
/** Long enough for a busy machine (ms). */
const UPSTREAM_TIMEOUT_MS = 60_000

/** Runs `pnpm stats`. */
const runStats = (...args: string[]) => promisify(execFile)(process.execPath, [CLI, ...args])

/** Starts an agency's services on the stand-in, all on one clock that the test moves. */
export async function startAgencyWeek() {
  const clock = createMovingClock()
  const folder = createTemporaryFolder()
  const { uriOf, start, kill } = await startProcesses({
    names: ['youtube', 'sse', 'stats', 'dashboard'],
    settings: (getUri) => ({
      youtube: {},
      sse: {},
      stats: {
        youtubeUri: getUri('youtube'),
        sseUri: getUri('sse'),
        refreshInterval: REFRESH_MS,
        sourceInterval: REFRESH_MS,
        upstreamTimeout: UPSTREAM_TIMEOUT_MS,
        dailyBudget: 0,
      },
      dashboard: {
        statsUri: getUri('stats'),
        sseUri: getUri('sse'),
        thumbnailUri: getUri('youtube'),
        demo: 'off',
      },
    }),
    env: clock.env,
  })
  const pages: Page[] = []

  return {
    clock,
    url: uriOf('dashboard'),
    stats: createStatsClient(uriOf('stats')),
    control: createControl(uriOf('youtube')),

    async open(path: string): Promise<Page> {
      const page = await openPage()
      await page.clock.install({ time: clock.now() })
      await page.goto(uriOf('dashboard') + path)
      pages.push(page)
      return page
    },

    /** Moves the clocks of all services and pages to the next day. */
    async passDay(): Promise<void> {
      clock.advance(DAY_MS)
      await Promise.all(pages.map((page) => page.clock.fastForward(DAY_MS)))
    },

    async restartStats(): Promise<void> {
      await kill('stats')
      await start('stats')
    },

    /** Exports all data of the service at a URL. Returns the file. */
    async exportData(name: string, url = uriOf('stats')): Promise<string> {
      const file = join(folder, name)
      await runStats('export', file, '--url', url)
      return file
    },

    /** Starts an empty service on the same source, and imports a file. It makes no calls for numbers of the last hour. */
    async startCopy(file: string) {
      const settings = {
        port: 0,
        data: createTemporaryFolder(),
        youtubeUri: uriOf('youtube'),
        sseUri: '',
        refreshInterval: HOUR_MS,
        dailyBudget: 0,
      }
      const { url } = await spawnService('stats', settings, clock.env)
      const client = createStatsClient(url)
      const before = await client.list()
      await runStats('import', file, '--url', url)
      return { url, client, before }
    },
  }
}
