import { fileURLToPath } from 'node:url'
import { createMovingClock, hasFaketime } from '@influencer-stats/runtime/testing/faketime'
import { spawnStart, START_SCRIPT } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createStatsClient } from '@influencer-stats/stats/client'
import { expect, it } from 'vitest'
import { openPage } from './support/browser.ts'

const FOLDER = fileURLToPath(new URL('../screenshots', import.meta.url))
const HOUR_MS = 3_600_000
/** Times between two reads of the numbers (hours): a week, of which the last day is read every hour. */
const STEPS = [...Array.from({ length: 26 }, () => 6), ...Array.from({ length: 26 }, () => 1)]

const PICTURES = [
  { name: 'campaigns', path: '/', wait: '.campaigns .sparkline .line', height: 720, colorScheme: 'light' },
  { name: 'campaign', path: '/campaigns/demo-books', wait: '.videos .name', height: 1300, colorScheme: 'light' },
  {
    name: 'creators',
    path: '/campaigns/demo-summer?tab=creators',
    wait: '.creators td',
    height: 1300,
    colorScheme: 'light',
  },
  {
    name: 'compare',
    path: '/compare?c=demo-summer&c=demo-city&c=demo-books',
    wait: 'canvas',
    height: 720,
    colorScheme: 'dark',
  },
] as const

it.skipIf(!hasFaketime)(
  'the pictures of the README show the demo campaigns after a week',
  { timeout: 600_000 },
  async () => {
    const clock = createMovingClock()
    const data = createTemporaryFolder()
    const args = ['dashboard', '--port', '0', '--data', data, '--stats.refresh-interval', '1000']
    const started = spawnStart(args, clock.env, { script: START_SCRIPT })
    const { dashboard, stats: statsRow } = await started.waitUntilReady()
    const stats = createStatsClient(statsRow!.url)
    await waitUntil(async () => (await stats.list()).collections.length === 3)
    for (const hours of STEPS) {
      clock.advance(hours * HOUR_MS)
      await waitUntil(async () => Date.parse((await stats.getStats('demo-city'))?.asOf ?? '') > clock.now() - 60_000)
    }
    for (const { name, path, wait, height, colorScheme } of PICTURES) {
      const page = await openPage({ colorScheme, viewport: { width: 1280, height } })
      await page.clock.install({ time: clock.now() })
      await page.goto(dashboard!.url + path)
      await page.locator(wait).first().waitFor()
      await waitUntil(() => page.evaluate<boolean>('[...document.images].every((image) => image.complete)'))
      const picture = await page.screenshot({ path: `${FOLDER}/${name}.png` })
      expect(picture.length).toBeGreaterThan(20_000)
    }
  },
)
